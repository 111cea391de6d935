/** A service with a hook of each scheme, and what its senders do. */
import { test as sharedTest } from '../../support/fixtures.ts'
import { type SignedScheme, signWebhook } from '../../support/sign-webhook.ts'
import { testCatalog } from '../../support/test-catalog.ts'
import { OPERATOR, tokenRule } from './callers.ts'

export const SECRETS = {
  SERVICE_HOOK_STANDARD: 'whsec_c3RhbmRhcmQtczNjcmV0',
  SERVICE_HOOK_STRIPE: 'whsec_stripe-s3cret',
  SERVICE_HOOK_GITHUB: 'github-s3cret',
  SERVICE_HOOK_SLACK: 'slack-s3cret',
  SERVICE_HOOK_TOKEN: 'token-s3cret',
}

const echo = (name: string) => ({ workflowName: 'echo', workflowId: `${name}:{/id}` })

export const HOOKS = {
  stripe: { scheme: 'stripe', secretEnv: ['SERVICE_HOOK_STRIPE'], start: echo('stripe') },
  github: { scheme: 'github', secretEnv: 'SERVICE_HOOK_GITHUB', start: { workflowName: 'echo' } },
  slack: { scheme: 'slack', secretEnv: 'SERVICE_HOOK_SLACK', start: echo('slack') },
  token: { scheme: 'token', header: 'X-Token', secretEnv: 'SERVICE_HOOK_TOKEN', start: echo('token') },
  standard: {
    scheme: 'standard',
    secretEnv: ['SERVICE_HOOK_GITHUB', 'SERVICE_HOOK_STANDARD'],
    argument: 'body',
    signal: { workflowId: 'run:{/id}', name: 'add' },
  },
  both: {
    scheme: 'standard',
    secretEnv: 'SERVICE_HOOK_STANDARD',
    signalWithStart: { start: { workflowName: 'messages', workflowId: 'both:{/id}' }, signal: { name: 'add' } },
  },
  checked: {
    scheme: 'github',
    secretEnv: 'SERVICE_HOOK_GITHUB',
    argument: 'body',
    start: { workflowName: 'sleepFor', workflowId: 'checked:{/id}' },
  },
  unknown: { scheme: 'github', secretEnv: 'SERVICE_HOOK_GITHUB', start: { workflowName: 'missing' } },
}

export const SCHEMES = ['standard', 'stripe', 'github', 'slack', 'token'] as const

export const secretOf = (scheme: SignedScheme) =>
  SECRETS[`SERVICE_HOOK_${scheme.toUpperCase()}` as keyof typeof SECRETS]

export const POLICY = JSON.stringify({ version: 1, rules: [tokenRule('ci', { can: ['*'] })], hooks: HOOKS })

export const test = sharedTest
  .extend('workerOptions', { scope: 'file' }, () => ({ catalog: testCatalog }))
  .extend('service', { scope: 'file' }, ({ serve, worker: _ }) => {
    const service = serve({ SERVICE_API_AUTH_TOKEN: OPERATOR, SERVICE_POLICY: POLICY, ...SECRETS })
    const lines: Record<string, unknown>[] = []
    service.onLine((line) => lines.push(JSON.parse(line)))
    const operator = { Authorization: `Bearer ${OPERATOR}` }
    const type = { 'Content-Type': 'application/json' }
    /** Sends a body as it is. */
    const deliver = (hook: string, body: string, headers: Record<string, string>) =>
      service.call('POST', `/hooks/${hook}`, body, { ...type, ...headers })
    return {
      ...service,
      lines,
      operator,
      deliver,
      /** Sends what the sender of the hook has signed. */
      send: (hook: keyof typeof HOOKS, event: unknown, id?: string) => {
        const scheme = HOOKS[hook].scheme as SignedScheme
        const body = JSON.stringify(event)
        return deliver(hook, body, signWebhook[scheme]({ secret: secretOf(scheme), body, ...(id && { id }) }))
      },
      resultOf: async (workflowId: string) => (await service.get(`${workflowId}/result?wait=60s`, operator)).body,
      gathered: async (workflowId: string) =>
        (await service.post(`${workflowId}/query/state`, { args: [] }, operator)).body.gathered,
    }
  })

export const anId = () => crypto.randomUUID()
