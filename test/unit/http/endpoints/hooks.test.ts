import { expect, test } from 'vitest'
import type { Caller } from '../../../../src/domain/model/caller.ts'
import { ServiceError } from '../../../../src/domain/model/errors.ts'
import type { Workflows } from '../../../../src/domain/model/workflows.ts'
import { createHooks, type HookDefinition } from '../../../../src/http/hooks/hooks.ts'
import { proofHeaders } from '../../../../src/http/hooks/schemes.ts'
import { type ApiOptions, makeApi, rejection } from '../api.ts'

const SECRETS = { SERVICE_HOOK_A: 's3cret' }
const JSON_TYPE = { 'Content-Type': 'application/json' }
const FORM_TYPE = { 'Content-Type': 'application/x-www-form-urlencoded' }

interface Sent {
  verb: string
  command: unknown
  caller: Caller | undefined
}

type Definition = Omit<HookDefinition, 'secretEnv' | 'argument'> & Partial<HookDefinition>

/** An app with one hook, whose verbs record what they get. */
function makeHookApi(definition: Definition, options: ApiOptions = {}) {
  const sent: Sent[] = []
  const record =
    <Result>(verb: string, result: Result) =>
    async (command: unknown, { caller }: { caller?: Caller }) => {
      sent.push({ verb, command, caller })
      return result
    }
  const run = { workflowId: 'w', runId: 'r' }
  const hook = { secretEnv: ['SERVICE_HOOK_A'], argument: 'event' as const, ...definition }
  const hooks = createHooks({ h: hook }, SECRETS)
  const api = makeApi({
    auth: { tokens: ['operator'] },
    hooks,
    ...options,
    workflows: {
      start: record('start', run),
      signal: record('signal', { ...run, runId: null, warnings: [] }),
      completeActivity: record('completeActivity', { ...run, activityId: 'a', isRepeated: false }),
      signalWithStart: record('signalWithStart', { ...run, started: true, warnings: [] }),
      ...options.workflows,
    },
  })
  /** Sends a body that the sender of the hook has signed. */
  async function send(body: string, headers: Record<string, string> = JSON_TYPE, id?: string) {
    const proof = { scheme: hook.scheme, secrets: ['s3cret'], header: hook.header ?? 'Authorization' }
    const signature = await proofHeaders(proof, new TextEncoder().encode(body), Date.now(), id)
    return api.call('POST', '/hooks/h', body, { ...headers, ...signature })
  }
  return { ...api, hooks, sent, send }
}

const START = { workflowName: 'order', workflowId: 'order:{/id}' }

async function answerOf(response: Response): Promise<[number, unknown]> {
  return [response.status, await response.json()]
}

test('start: only the id and the argument are those of the event', async () => {
  const { send, sent } = makeHookApi({ scheme: 'github', start: START })
  const body = { id: 7, workflowId: 'x', workflowName: 'x', catalog: 'x', options: { memo: {} }, idempotencyKey: 'x' }

  const response = await send(JSON.stringify(body), { ...JSON_TYPE, 'X-GitHub-Event': 'push' }, 'delivery-1')

  expect(await answerOf(response)).toEqual([202, { workflowId: 'w', runId: 'r' }])
  expect(sent).toEqual([
    {
      verb: 'start',
      command: {
        workflowName: 'order',
        workflowId: 'order:7',
        catalog: 'orders',
        args: [{ headers: { 'x-github-event': 'push', 'x-github-delivery': 'delivery-1' }, body }],
        argumentPointer: '',
        options: { workflowIdReusePolicy: 'reject-duplicate' },
      },
      caller: {
        id: 'hook:h',
        grants: [
          {
            rule: 'hook:h',
            can: ['start'],
            ids: ['order:7'],
            catalogs: ['orders'],
            options: ['workflowIdReusePolicy'],
          },
        ],
        limits: null,
      },
    },
  ])
})

test('signal: the key is the id of the event', async () => {
  const signal = { workflowId: 'repo:{/repository/full_name}', name: 'push' }
  const { send, sent } = makeHookApi({ scheme: 'standard', argument: 'body', signal })
  const body = { repository: { full_name: 'Ada/x:*' } }

  const response = await send(JSON.stringify(body), JSON_TYPE, 'msg_1')

  expect(await answerOf(response)).toEqual([202, { workflowId: 'w', runId: null }])
  expect(sent[0]?.command).toEqual({
    ref: { workflowId: 'repo:~41da~2fx~3a~2a' },
    message: { name: 'push', args: [body], argumentPointer: '' },
    idempotencyKey: 'msg_1',
  })
  expect(sent[0]?.caller?.grants?.[0]?.can).toEqual(['signal:push'])
})

test('signalWithStart: the signal has the argument, and the workflow starts without one', async () => {
  const { send, sent } = makeHookApi({
    scheme: 'stripe',
    argument: 'body',
    signalWithStart: { start: { ...START, catalog: 'others' }, signal: { name: 'event' } },
  })

  await send('{"id":"evt_1"}')

  expect(sent[0]?.command).toEqual({
    start: {
      workflowName: 'order',
      workflowId: 'order:evt_1',
      catalog: 'others',
      args: [],
      argumentPointer: '',
      idempotencyKey: 'evt_1',
    },
    signal: { name: 'event', args: [{ id: 'evt_1' }], argumentPointer: '' },
  })
  expect(sent[0]?.caller?.grants?.[0]?.can).toEqual(['start', 'signal:event'])
})

test('without a workflow id, the id has the id of the event, encoded like a claim', async () => {
  const { send, sent } = makeHookApi({ scheme: 'standard', start: { workflowName: 'order' } })
  const token = makeHookApi({ scheme: 'token', start: { workflowName: 'order' } })

  await send('{}', JSON_TYPE, 'msg_A:*')
  await token.send('{}')
  await token.send('{}')

  expect(sent[0]?.command).toMatchObject({ workflowId: 'hook:h:msg_~41~3a~2a' })
  const ids = token.sent.map(({ command }) => (command as { workflowId: string }).workflowId)
  expect(new Set(ids).size).toBe(2)
  for (const id of ids) expect(id).toMatch(/^hook:h:[\da-f-]{36}$/)
})

test('an id can be a large integer, and a body that has no value for it is a 400', async () => {
  const { send, sent } = makeHookApi({ scheme: 'github', start: START })
  const bodies = ['{}', '{"id":""}', '{"id":1.5}', '{"id":null}', '{"id":{"a":1}}', '[]', '7', '12345678901234567890']

  await send('{"id":12345678901234567890}')
  const responses = await Promise.all([...bodies, `{"id":"${'x'.repeat(1000)}"}`].map((body) => send(body)))

  expect(sent.map(({ command }) => command)).toMatchObject([{ workflowId: 'order:12345678901234567890' }])
  expect(await Promise.all(responses.map(rejection))).toEqual(responses.map(() => [400, 'ValidationError']))
})

test('a repeated event is a 200 that says so', async () => {
  const alreadyStarted = () => Promise.reject(new ServiceError('WorkflowAlreadyStartedError', 'no'))
  const start = makeHookApi({ scheme: 'stripe', start: START }, { workflows: { start: alreadyStarted } })
  const action = { start: START, signal: { name: 'event' } }
  const isRepeated = async () => ({
    workflowId: 'w',
    runId: 'r',
    started: false,
    warnings: [],
    isRepeated: true as const,
  })
  const signal = makeHookApi(
    { scheme: 'stripe', signalWithStart: action },
    { workflows: { signalWithStart: isRepeated } },
  )
  const keyReused = () => Promise.reject(new ServiceError('IdempotencyKeyReusedError', 'no'))
  const changed = makeHookApi(
    { scheme: 'stripe', signalWithStart: action },
    { workflows: { signalWithStart: keyReused } },
  )

  for (const { send } of [start, signal, changed])
    expect(await answerOf(await send('{"id":"evt_1"}'))).toEqual([200, { duplicate: true }])
})

test('a request without a valid proof is a 401 with the same body for each reason, and reaches no verb', async () => {
  const { call, send, sent, events } = makeHookApi({ scheme: 'stripe', start: START })
  const signature = (seconds: number, secret = 's3cret') =>
    proofHeaders({ scheme: 'stripe', secrets: [secret], header: '' }, new TextEncoder().encode('{}'), seconds * 1000)
  const now = Math.floor(Date.now() / 1000)
  const sentHeaders = [
    {},
    { 'Stripe-Signature': '' },
    { 'Stripe-Signature': `t=${now},v1=` },
    await signature(now, 'other'),
    await signature(now - 400),
    await signature(now + 400),
    { Authorization: 'Bearer operator' },
  ]

  const responses = await Promise.all(sentHeaders.map((headers) => call('POST', '/hooks/h', '{}', headers)))
  await send('{"id":1}')

  const bodies = await Promise.all(responses.map(async (response) => ({ ...(await response.json()), requestId: '' })))
  expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 401))
  expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1)
  expect(sent).toHaveLength(1)
  expect(events.filter(({ message }) => message === 'request').map(({ fields }) => fields.hook)).toContain('h')
  expect(JSON.stringify(events)).not.toMatch(/s3cret|v1=/)
})

test('an unknown hook is a 404, and an operator is not a sender', async () => {
  const { call } = makeHookApi({ scheme: 'github', start: START })

  const names = ['other', 'toString', '__proto__', '%FF']
  const responses = await Promise.all(names.map((name) => call('POST', `/hooks/${name}`, '{}')))

  expect(await Promise.all(responses.map(rejection))).toEqual(names.map(() => [404, 'NotFoundError']))
  expect(await rejection(await makeApi().call('POST', '/hooks/h', '{}'))).toEqual([404, 'NotFoundError'])
  expect((await call('GET', '/hooks/h')).status).toBe(405)
})

test('hooks are those of the policy that is in force', async () => {
  const { send, hooks } = makeHookApi({ scheme: 'github', start: START })
  const before = await send('{"id":1}')

  hooks.replace({})

  expect([before.status, (await send('{"id":1}')).status]).toEqual([202, 404])
})

test('a hook exists once, not for each namespace', async () => {
  const { call } = makeHookApi({ scheme: 'github', start: START })
  const operator = { Authorization: 'Bearer operator' }

  expect((await call('POST', '/namespaces/default/hooks/h', '{}', operator)).status).toBe(404)
})

test('a form becomes an object of strings; the payload of Slack and GitHub is JSON', async () => {
  const form = 'a=1&b=x+y&payload=%7B%22id%22%3A7%7D'
  const start = { workflowName: 'order', workflowId: '{/a}:{/payload/id}' }
  const slack = makeHookApi({ scheme: 'slack', argument: 'body', start })
  const token = makeHookApi({ scheme: 'token', argument: 'body', start: { workflowName: 'order', workflowId: '{/a}' } })

  const response = await slack.send(form, FORM_TYPE)
  await token.send(form, FORM_TYPE)
  const broken = await slack.send('payload=x', FORM_TYPE)

  expect([response.status, await response.text()]).toEqual([200, ''])
  expect(slack.sent[0]?.command).toMatchObject({
    workflowId: '1:7',
    args: [{ a: '1', b: 'x y', payload: { id: 7 } }],
  })
  expect(token.sent[0]?.command).toMatchObject({ args: [{ a: '1', b: 'x y', payload: '{"id":7}' }] })
  expect(await rejection(broken)).toEqual([400, 'ValidationError'])
})

test("Slack's challenge is answered, and starts nothing", async () => {
  const { send, sent } = makeHookApi({ scheme: 'slack', start: { workflowName: 'order' } })

  const response = await send('{"type":"url_verification","challenge":"c-1"}')

  expect([await answerOf(response), sent]).toEqual([[200, { challenge: 'c-1' }], []])
})

test('a body that is neither JSON nor a form is an error after its proof was checked', async () => {
  const { call, send } = makeHookApi({ scheme: 'github', start: START })

  const responses = [
    await send('x', { 'Content-Type': 'text/plain' }),
    await send('{"id":1}', { ...JSON_TYPE, 'Content-Encoding': 'gzip' }),
    await send('{'),
    await call('POST', '/hooks/h', 'x', { 'Content-Type': 'text/plain' }),
  ]

  expect(await Promise.all(responses.map(rejection))).toEqual([
    [415, 'UnsupportedMediaTypeError'],
    [415, 'UnsupportedMediaTypeError'],
    [400, 'ValidationError'],
    [401, 'UnauthorizedError'],
  ])
})

test('a body over the limit is a 413, with and without its length', async () => {
  const { send, fetch } = makeHookApi({ scheme: 'github', start: START }, { maxBodyBytes: 10 })
  const stream = new Blob(['{"id":1,"a":2}']).stream()
  const chunked = new Request('http://portico.test/hooks/h', {
    method: 'POST',
    body: stream,
    headers: JSON_TYPE,
    duplex: 'half',
  } as RequestInit)

  expect([(await send('{"id":1}')).status, (await fetch(chunked)).status]).toEqual([202, 413])
})

test('a body that arrives in pieces is verified as it was sent', async () => {
  const { fetch, sent } = makeHookApi({ scheme: 'github', argument: 'body', start: START })
  const body = new TextEncoder().encode('{"id":1, "a":"é"}')
  const proof = await proofHeaders({ scheme: 'github', secrets: ['s3cret'], header: '' }, body, 0)
  const pieces = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const byte of body) controller.enqueue(Uint8Array.of(byte))
      controller.close()
    },
  })
  const init = { method: 'POST', body: pieces, headers: { ...JSON_TYPE, ...proof }, duplex: 'half' } as RequestInit

  const response = await fetch(new Request('http://portico.test/hooks/h', init))

  expect(response.status).toBe(202)
  expect(sent[0]?.command).toMatchObject({ args: [{ id: 1, a: 'é' }] })
})

test('errors say nothing about other workflows, and an engine that is away is a 503', async () => {
  const failWith = (error: ServiceError): Partial<Workflows> => ({ start: () => Promise.reject(error) })
  const unsupported = new ServiceError('UnsupportedWorkflowError', 'no', { details: { available: ['secret-name'] } })
  const unavailable = new ServiceError('EngineUnavailableError', 'no')
  const send = (error: ServiceError) =>
    makeHookApi({ scheme: 'github', start: START }, { workflows: failWith(error) }).send('{"id":1}')

  const [first, second] = [await send(unsupported), await send(unavailable)]

  expect([first.status, await first.text()]).toEqual([424, expect.not.stringContaining('secret-name')])
  expect(await rejection(second)).toEqual([503, 'EngineUnavailableError'])
})

const CHARGE = { scheme: 'github', complete: { workflowId: 'order:{/id}', activityId: 'charge:{/no}' } } as const

test('complete: the event becomes the output, its id the key, and the hook may complete nothing else', async () => {
  const { send, sent } = makeHookApi({ ...CHARGE, argument: 'body' })

  const response = await send(JSON.stringify({ id: 7, no: 'A/b', activityId: 'x' }), JSON_TYPE, 'delivery-1')

  expect(await answerOf(response)).toEqual([202, { workflowId: 'w', runId: 'r' }])
  expect(sent).toMatchObject([
    {
      verb: 'completeActivity',
      command: {
        ref: { workflowId: 'order:7' },
        activityId: 'charge:~41~2fb',
        output: { id: 7, no: 'A/b', activityId: 'x' },
        idempotencyKey: 'delivery-1',
      },
      caller: { id: 'hook:h', grants: [{ can: ['complete'], ids: ['order:7'] }] },
    },
  ])
})

test('complete: a body without the id of the activity, or with one that is too long, is a 400', async () => {
  const { send, sent } = makeHookApi(CHARGE)

  const missing = await send('{"id": 7}')
  const long = await send(JSON.stringify({ id: 7, no: 'x'.repeat(1000) }))

  expect(await rejection(missing)).toEqual([400, 'ValidationError'])
  expect(await rejection(long)).toEqual([400, 'ValidationError'])
  expect(sent).toEqual([])
})

test('complete: an event that came before is a duplicate, and one for an activity that is over is a 404', async () => {
  const repeated = { workflowId: 'w', runId: 'r', activityId: 'a', isRepeated: true }
  const over = new ServiceError('ActivityNotFoundError', 'over', { details: { completed: true } })
  const again = makeHookApi(CHARGE, { workflows: { completeActivity: async () => repeated } })
  const late = makeHookApi(CHARGE, { workflows: { completeActivity: async () => Promise.reject(over) } })
  const body = JSON.stringify({ id: 7, no: 1 })

  expect(await answerOf(await again.send(body))).toEqual([200, { duplicate: true }])
  expect(await rejection(await late.send(body))).toEqual([404, 'ActivityNotFoundError'])
})
