/** Webhooks on a real engine: threat 33 of docs/access.md. */
import { expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import type { Answer } from '../../support/api.ts'
import { startFaultProxy } from '../../support/fault-proxy.ts'
import { test as sharedTest } from '../../support/fixtures.ts'
import { type SignedScheme, signWebhook } from '../../support/sign-webhook.ts'
import { testCatalog } from '../../support/test-catalog.ts'
import { OPERATOR, tokenOf, tokenRule } from './callers.ts'

const SECRETS = {
  SERVICE_HOOK_STANDARD: 'whsec_c3RhbmRhcmQtczNjcmV0',
  SERVICE_HOOK_STRIPE: 'whsec_stripe-s3cret',
  SERVICE_HOOK_GITHUB: 'github-s3cret',
  SERVICE_HOOK_SLACK: 'slack-s3cret',
  SERVICE_HOOK_TOKEN: 'token-s3cret',
}

const echo = (name: string) => ({ workflowName: 'echo', workflowId: `${name}:{/id}` })

const HOOKS = {
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

const SCHEMES: readonly SignedScheme[] = ['standard', 'stripe', 'github', 'slack', 'token']

const secretOf = (scheme: SignedScheme) => SECRETS[`SERVICE_HOOK_${scheme.toUpperCase()}` as keyof typeof SECRETS]

const POLICY = JSON.stringify({ version: 1, rules: [tokenRule('ci', { can: ['*'] })], hooks: HOOKS })

const test = sharedTest
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
      resultOf: async (workflowId: string) => (await service.get(`${workflowId}/result?wait=20s`, operator)).body,
      gathered: async (workflowId: string) =>
        (await service.post(`${workflowId}/query/state`, { args: [] }, operator)).body.gathered,
    }
  })

const UNAVAILABLE = { code: 14, message: 'unavailable' }

const anId = () => crypto.randomUUID()

/** What every rejection has in common. */
const outcomeOf = ({ status, body }: Answer) => [status, body?.error, body?.message]

test('each scheme accepts what its sender signs, and nothing else (threat 33: signatures)', async ({ service }) => {
  const { deliver, send, lines } = service
  const hooks = { standard: 'both', stripe: 'stripe', github: 'github', slack: 'slack', token: 'token' } as const
  const accepted: number[] = []
  const rejected: unknown[][] = []
  for (const scheme of SCHEMES) {
    const hook = hooks[scheme]
    const event = { id: anId() }
    const body = JSON.stringify(event)
    const sign = signWebhook[scheme]
    const right = sign({ secret: secretOf(scheme), body })
    const others = SCHEMES.filter((other) => other !== scheme)
    const wrong: Record<string, string>[] = [
      {},
      sign({ secret: 'd3Jvbmc=', body }),
      ...Object.keys(right)
        .filter((name) => /signature|token/i.test(name))
        .map((name) => ({ ...right, [name]: '' })),
      ...others.map((other) => signWebhook[other]({ secret: secretOf(scheme), body })),
      { Authorization: `Bearer ${secretOf(scheme)}` },
      { Authorization: `Bearer ${OPERATOR}` },
      { Authorization: `Bearer ${tokenOf('ci')}` },
    ]
    for (const headers of wrong) rejected.push(outcomeOf(await deliver(hook, body, headers)))
    accepted.push((await send(hook, event)).status)
  }

  expect(accepted).toEqual(SCHEMES.map(() => 202))
  expect(new Set(rejected.map((outcome) => JSON.stringify(outcome))).size).toBe(1)
  expect(rejected[0]?.slice(0, 2)).toEqual([401, 'UnauthorizedError'])
  // Neither secrets nor signatures are logged (threat 28).
  expect(JSON.stringify(lines)).not.toMatch(/s3cret|c3RhbmRh|v1=|v0=|sha256=/)
})

test('an event counts for five minutes, if its sender signs a time (threat 33: time)', async ({ service }) => {
  const statusOf = async (hook: keyof typeof HOOKS, shift: number, forged: Record<string, string> = {}) => {
    const scheme = HOOKS[hook].scheme as SignedScheme
    const body = JSON.stringify({ id: anId() })
    const seconds = Math.floor(Date.now() / 1000) + shift
    const headers = signWebhook[scheme]({ secret: secretOf(scheme), body, seconds })
    return (await service.deliver(hook, body, { ...headers, ...forged })).status
  }
  const timed = ['both', 'stripe', 'slack'] as const
  const now = String(Math.floor(Date.now() / 1000))

  const fresh = await Promise.all(timed.flatMap((hook) => [statusOf(hook, -200), statusOf(hook, 200)]))
  const old = await Promise.all(timed.flatMap((hook) => [statusOf(hook, -400), statusOf(hook, 400)]))
  const forged = await Promise.all([
    statusOf('both', -400, { 'webhook-timestamp': now }),
    statusOf('slack', -400, { 'X-Slack-Request-Timestamp': now }),
  ])

  expect(fresh).toEqual(Array(6).fill(202))
  expect([...old, ...forged]).toEqual(Array(8).fill(401))
})

test('an event that comes again starts nothing, also when its run has closed (threat 33: replays)', async ({
  service,
}) => {
  const { send, resultOf } = service
  const id = anId()
  const started = await Promise.all(Array.from({ length: 5 }, () => send('stripe', { id })))
  await resultOf(`stripe:${id}`)
  const afterwards = await send('stripe', { id })
  const delivery = anId()
  const byHeader = [await send('github', { a: 1 }, delivery), await send('github', { a: 1 }, delivery)]

  const accepted = started.filter(({ status }) => status === 202)
  const repeated = [...started.filter(({ status }) => status === 200), afterwards]
  expect([accepted.length, repeated.length]).toEqual([1, 5])
  expect(repeated.map(({ body }) => body)).toEqual(repeated.map(() => ({ duplicate: true })))
  expect(byHeader.map(({ status, body }) => [status, body.workflowId ?? body])).toEqual([
    [202, `hook:github:${delivery}`],
    [200, { duplicate: true }],
  ])
})

test('a run receives the signal of an event once (threat 33: replays)', async ({ service }) => {
  const { send, gathered, operator } = service
  const id = anId()
  await service.post('start', { workflowName: 'messages', args: [], workflowId: `run:${id}` }, operator)
  const [event, other] = [anId(), anId()]

  const first = await Promise.all([event, event, event].map((key) => send('standard', { id, n: 1 }, key)))
  await send('standard', { id, n: 2 }, other)
  const again = await send('standard', { id, n: 1 }, event)

  expect([...first, again].map(({ status }) => status)).toEqual([202, 202, 202, 202])
  expect(await gathered(`run:${id}`)).toEqual([
    { id, n: 1 },
    { id, n: 2 },
  ])
  expect((await send('standard', { id: anId() })).status).toBe(404)
  await service.post(`run:${id}/terminate`, {}, operator)
  expect((await send('standard', { id, n: 3 })).status).toBe(409)
})

test('an event that starts or signals counts once, also when its sender signs it again (threat 33: replays)', async ({
  service,
}) => {
  const { deliver, send, gathered, operator } = service
  const id = anId()
  const [event, other] = [anId(), anId()]
  const body = JSON.stringify({ id })
  const later = signWebhook.standard({
    secret: SECRETS.SERVICE_HOOK_STANDARD,
    body,
    id: event,
    seconds: Math.floor(Date.now() / 1000) + 30,
  })

  const first = await send('both', { id }, event)
  // The headers differ, and so does the argument.
  const retried = await deliver('both', body, later)
  const second = await send('both', { id }, other)
  const twice = await send('both', { id }, other)

  expect([first, retried, second].map(({ status }) => status)).toEqual([202, 200, 202])
  expect(twice.status).toBeLessThan(300)
  const events = await gathered(`both:${id}`)
  expect(events.map((one: { headers: Record<string, string> }) => one.headers['webhook-id'])).toEqual([event, other])
  await service.post(`both:${id}/terminate`, {}, operator)
})

test('the signature is that of the bytes, not of their meaning (threat 33: re-serialized bodies)', async ({
  service,
}) => {
  const { deliver, resultOf } = service
  const id = anId()
  const body = `{ "id": "${id}", "price": 1.10, "n": 12345678901234567890, "text": "\\u00e9" }\n`
  const secret = SECRETS.SERVICE_HOOK_STRIPE
  const others = [
    JSON.stringify(JSON.parse(body)),
    body.trim(),
    body.replace('1.10', '1.1'),
    body.replace('\\u00e9', 'é'),
  ]

  const statuses = await Promise.all(
    others.map(async (other) => (await deliver('stripe', other, signWebhook.stripe({ secret, body }))).status),
  )
  const accepted = await deliver('stripe', body, signWebhook.stripe({ secret, body }))

  expect(statuses).toEqual(others.map(() => 401))
  expect(accepted.status).toBe(202)
  const { output } = await resultOf(`stripe:${id}`)
  expect(output).toMatchObject({ headers: {}, body: { id, price: 1.1, text: 'é' } })
})

test('a body decides the id and the argument, whatever else it has (threat 33: bodies that ask for more)', async ({
  service,
  client,
  catalog,
}) => {
  const { send, lines } = service
  const id = `${anId()}:*/../x`
  const asking = {
    id,
    workflowName: 'messages',
    workflowId: 'other',
    catalog: 'other',
    taskQueue: 'other',
    name: 'finish',
    memo: { a: 1 },
    options: { memo: { a: 1 } },
    headers: { authorization: 'x' },
    workflowIdReusePolicy: 'allow-duplicate',
    workflowIdConflictPolicy: 'terminate-existing',
    idempotencyKey: 'k',
    namespace: 'other',
    __proto__: { polluted: true },
  }

  const answer = await send('stripe', asking)

  const workflowId = `stripe:${id.replaceAll(':', '~3a').replaceAll('*', '~2a').replaceAll('/', '~2f')}`
  expect(answer).toMatchObject({ status: 202, body: { workflowId } })
  const description = await client.workflow.getHandle(workflowId).describe()
  expect([description.type, description.taskQueue, description.memo]).toEqual(['echo', catalog, {}])
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory()
  const [started] = events ?? []
  expect(started?.workflowExecutionStartedEventAttributes).toMatchObject({ identity: 'portico hook:stripe' })
  const audited = await until('it is audited', () =>
    lines.find(({ message, requestId }) => message === 'audit' && requestId === answer.headers.get('X-Request-Id')),
  )
  expect(audited).toMatchObject({
    caller: 'hook:stripe',
    rule: 'hook:stripe',
    action: 'start',
    namespace: 'default',
    workflowId,
    workflowName: 'echo',
    status: 202,
  })
})

test('a signal is audited with its hook, and a rejected request is not audited', async ({ service, client }) => {
  const { send, deliver, lines } = service
  const id = anId()

  const answer = await send('both', { id })
  const rejected = await deliver('both', '{}', {})

  const { events } = await client.workflow.getHandle(`both:${id}`).fetchHistory()
  const identities = (events ?? []).flatMap((event) => event.workflowExecutionSignaledEventAttributes?.identity ?? [])
  expect(identities).toEqual(['portico hook:both'])
  const auditOf = ({ headers }: Answer) =>
    lines.filter(({ message, requestId }) => message === 'audit' && requestId === headers.get('X-Request-Id'))
  expect([auditOf(answer).length, auditOf(rejected).length]).toEqual([1, 0])
})

test("the argument must match the workflow's schema, and a sender does not learn of other workflows", async ({
  service,
}) => {
  const { send, resultOf } = service
  const id = anId()

  const wrong = await send('checked', { id, ms: 'x' })
  const right = await send('checked', { id, ms: 1 })
  const unknown = await send('unknown', {})

  expect(wrong).toMatchObject({ status: 400, body: { error: 'ValidationError' } })
  expect([right.status, (await resultOf(`checked:${id}`)).status]).toEqual([202, 'completed'])
  expect(unknown).toMatchObject({ status: 424, body: { error: 'UnsupportedWorkflowError' } })
  expect(unknown.body).not.toHaveProperty('available')
})

test('while the engine is away a sender gets a 503, and its next attempt succeeds', async ({
  serve,
  engine,
  catalog,
  worker: _,
  onTestFinished,
}) => {
  const proxy = await startFaultProxy(engine.address, engine.httpUrl)
  onTestFinished(() => proxy.stop())
  const service = serve({
    SERVICE_CATALOG_ID: catalog,
    SERVICE_POLICY: POLICY,
    ENGINE_ADDRESS: proxy.address,
    ...SECRETS,
  })
  const body = JSON.stringify({ id: anId() })
  const send = () =>
    service.call('POST', '/hooks/stripe', body, {
      'Content-Type': 'application/json',
      ...signWebhook.stripe({ secret: SECRETS.SERVICE_HOOK_STRIPE, body }),
    })
  const isBack = proxy.on({ method: 'StartWorkflowExecution', containing: '', fault: UNAVAILABLE })

  const away = await send()
  isBack()
  const back = await send()
  const again = await send()

  expect(away).toMatchObject({ status: 503, body: { error: 'EngineUnavailableError' } })
  expect([back.status, again.status]).toEqual([202, 200])
})
