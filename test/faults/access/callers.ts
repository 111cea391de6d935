/** A service with a policy, and a client for each of its callers. The token of a rule is its name and `-token`. */
import { createHash } from 'node:crypto'
import type { Client } from '@temporalio/client'
import { until } from '../../../src/cli/dev/servers/until.ts'
import type { PolicyDocument } from '../../../src/shared/config/policy.ts'
import { type Answer, type Api, makeApi } from '../../support/api.ts'
import { type InProcessService, test as sharedTest } from '../../support/fixtures.ts'
import { startIdentityProvider } from '../../support/identity-provider.ts'
import { AUDIENCE, createSigner, ISSUER, type Signer } from '../../support/jwt-signer.ts'
import { readiness } from '../../support/readiness.ts'
import { testCatalog } from '../../support/test-catalog.ts'

export const OPERATOR = 'operator-s3cret'

type RuleDocument = NonNullable<PolicyDocument['rules']>[number]

/** A rule for one token. */
export function tokenRule(name: string, rule: Omit<RuleDocument, 'name' | 'who'>, token = tokenOf(name)): RuleDocument {
  return { name, who: { token: hashOf(token) }, ...rule }
}

export function tokenOf(rule: string): string {
  return `${rule}-token`
}

export function hashOf(token: string): string {
  return `sha256:${createHash('sha256').update(token).digest('hex')}`
}

export interface Callers {
  service: InProcessService
  operator: Api
  /** The caller with this token, by default that of the rule. */
  as(rule: string, token?: string): Api
  /** The caller with a JWT with these claims. */
  withClaims(claims: Record<string, unknown>): Promise<Api>
  policyOf(...rules: RuleDocument[]): PolicyDocument
}

interface CallersOptions {
  serve(env: Record<string, string>): InProcessService
  cleanup: AsyncDisposableStack
  rules: RuleDocument[]
  env?: Record<string, string>
}

/** A service with an operator's token, and a policy with these rules and the issuer `main`. */
export async function startCallers({ serve, cleanup, rules, env = {} }: CallersOptions): Promise<Callers> {
  const signer: Signer = await createSigner()
  const issuer = await startIdentityProvider([signer])
  cleanup.defer(issuer.stop)
  const issuers = { main: { issuer: ISSUER, audience: AUDIENCE, jwksUrl: issuer.jwksUrl } }
  const policyOf = (...rules: RuleDocument[]): PolicyDocument => ({ version: 1, issuers, rules })
  const service = serve({
    SERVICE_API_AUTH_TOKEN: OPERATOR,
    SERVICE_POLICY: JSON.stringify(policyOf(...rules)),
    SERVICE_SIGNING_KEY: Buffer.alloc(32, 'signing-key').toString('base64url'),
    ...env,
  })
  await readiness(service)
  const withToken = (token: string) => makeApi({ fetch: service.fetch, token })
  return {
    service,
    operator: withToken(OPERATOR),
    as: (rule, token = tokenOf(rule)) => withToken(token),
    withClaims: async (claims) => withToken(await signer.sign(claims)),
    policyOf,
  }
}

/** Tests with a worker. `callers` have the service with this environment, and `startCallers` starts more. */
export function testWithCallers(rules: RuleDocument[], env: Record<string, string> = {}) {
  return sharedTest
    .extend('workerOptions', { scope: 'file' }, () => ({ catalog: testCatalog }))
    .extend('startCallers', { scope: 'file' }, ({ serve, cleanup, worker: _ }) => {
      return (more: Record<string, string> = {}) => startCallers({ serve, cleanup, rules, env: { ...env, ...more } })
    })
    .extend('callers', { scope: 'file' }, ({ startCallers }) => startCallers())
}

/** The whole response, without what differs between two responses to the same request. */
export function bytesOf({ status, headers, text }: Answer): unknown[] {
  const requestId = headers.get('X-Request-Id') ?? ''
  const kept = [...headers].filter(([name]) => !/^(?:x-request-id|date)$/.test(name))
  return [status, kept, text.replaceAll(requestId, '<request id>')]
}

/** What the response says to a client that may not do this. */
export function rejectionOf({ status, body }: Answer): unknown[] {
  return [status, body?.error, body?.action]
}

/** The length of the history after the first workflow task. From then on only requests make it longer. */
export async function historyLengthOf(client: Client, workflowId: string): Promise<number> {
  return until('the first workflow task is complete', async () => {
    const { events = [] } = await client.workflow.getHandle(workflowId).fetchHistory()
    return events?.some((event) => event.workflowTaskCompletedEventAttributes) ? events.length : null
  })
}

/** Waits until the run asks a question. */
export async function untilAsked(api: Api, workflowId: string): Promise<void> {
  await until('the workflow asks', async () => (await api.get(`${workflowId}/questions`)).body.questions.length > 0)
}

/** Waits until the activity with this path can be completed. */
export async function untilOpen(api: Api, activity: string): Promise<void> {
  await until('the activity waits', async () => (await api.post(`${activity}/heartbeat`)).status === 200)
}

/** Stops the run, and waits until its activity with this path should end. */
export async function untilCanceling(api: Api, activity: string): Promise<void> {
  await api.call('PATCH', `/workflow/${activity.split('/')[0]}/stop`)
  await until('the activity should end', async () => (await api.post(`${activity}/heartbeat`)).body.cancelRequested)
}
