/** Hooks and links that complete an activity, on a real engine: docs/hooks.md and docs/links.md. */
import { expect } from 'vitest'
import { type Api, makeApi } from '../../support/api.ts'
import { test as sharedTest } from '../../support/fixtures.ts'
import { signWebhook } from '../../support/sign-webhook.ts'
import { testCatalog } from '../../support/test-catalog.ts'
import { OPERATOR, tokenOf, tokenRule, untilOpen } from './callers.ts'

const SECRET = 'github-s3cret'

const HOOKS = {
  charged: {
    scheme: 'github',
    secretEnv: 'SERVICE_HOOK_GITHUB',
    argument: 'body',
    complete: { workflowId: 'own:{/order}', activityId: '{/activity}' },
  },
}

const RULES = [
  tokenRule('mailer', { can: ['link', 'complete:outside'], ids: ['own:*'] }),
  tokenRule('sender', { can: ['link', 'signal'], ids: ['own:*'] }),
  // Neither rule has both.
  tokenRule('split', { can: ['link'], ids: ['own:*'] }),
  tokenRule('split-type', { can: ['complete:outside'], ids: ['own:*'] }, tokenOf('split')),
]

const POLICY = JSON.stringify({ version: 1, rules: RULES, hooks: HOOKS })
const BASE = 'https://portico.example'

const test = sharedTest
  .extend('workerOptions', { scope: 'file' }, () => ({ catalog: testCatalog }))
  .extend('callers', { scope: 'file' }, ({ serve, worker: _ }) => {
    const service = serve({
      SERVICE_API_AUTH_TOKEN: OPERATOR,
      SERVICE_POLICY: POLICY,
      SERVICE_HOOK_GITHUB: SECRET,
      SERVICE_SIGNING_KEY: Buffer.alloc(32, 'signing-key').toString('base64url'),
      SERVICE_PUBLIC_URL: BASE,
    })
    const withToken = (token: string) => makeApi({ fetch: service.fetch, token })
    return {
      operator: withToken(OPERATOR),
      as: (rule: string) => withToken(tokenOf(rule)),
      holder: withToken(''),
      /** Sends an event that its sender has signed. */
      send: (event: object, id: string) => {
        const body = JSON.stringify(event)
        const headers = { 'Content-Type': 'application/json', ...signWebhook.github({ secret: SECRET, body, id }) }
        return service.call('POST', '/hooks/charged', body, headers)
      },
    }
  })

/** The workflow id, and the id after its prefix, of a run whose activity `approval` waits. */
async function waiting(operator: Api, input: object = {}): Promise<{ workflowId: string; order: string }> {
  const order = crypto.randomUUID()
  const workflowId = `own:${order}`
  await operator.start('completesOutside', input, { workflowId })
  await untilOpen(operator, `${workflowId}/activities/approval`)
  return { workflowId, order }
}

const outputOf = async (operator: Api, workflowId: string) =>
  (await operator.get(`${workflowId}/result?wait=20s`)).body.output

test('an event completes the activity that waits for it, once, also when it comes again at the same instant', async ({
  callers: { operator, send },
}) => {
  const { workflowId, order } = await waiting(operator)
  const event = { order, activity: 'approval', paid: true }
  const delivery = crypto.randomUUID()

  const answers = await Promise.all([1, 2, 3].map(() => send(event, delivery)))
  const output = await outputOf(operator, workflowId)
  const afterEnd = await send(event, delivery)

  expect(output).toEqual([event])
  expect(
    [...answers.filter(({ status }) => status !== 202), afterEnd].map(({ status, body }) => [status, body]),
  ).toEqual(Array(3).fill([200, { duplicate: true }]))
})

test('another event for an activity that is over is a 404, and a 409 when the run has ended', async ({
  callers: { operator, send },
}) => {
  const { workflowId, order } = await waiting(operator, { staysOpen: true })
  const event = { order, activity: 'approval' }

  const first = await send(event, crypto.randomUUID())
  const second = await send(event, crypto.randomUUID())
  const never = await send({ order, activity: 'other' }, crypto.randomUUID())
  await operator.post(`${workflowId}/terminate`)
  const ended = await send(event, crypto.randomUUID())
  const missing = await send({ order: crypto.randomUUID(), activity: 'approval' }, crypto.randomUUID())

  expect(first.status).toBe(202)
  expect([second, never, ended, missing].map(({ status, body }) => [status, body.error, body.completed])).toEqual([
    [404, 'ActivityNotFoundError', true],
    [404, 'ActivityNotFoundError', undefined],
    [409, 'WorkflowNotRunningError', true],
    [404, 'WorkflowNotFoundError', undefined],
  ])
})
