/** What the client sends, and when. The responses are those of `fetch`; test/conformance/client/ has a real service. */
import { expect, test, vi } from 'vitest'
import { PorticoError } from '../../../src/client/index.ts'
import { clientOf, cut, ok, problem, type Respond, resetBeforeEach, sent, settled } from './scripted-service.ts'

resetBeforeEach()

const UNAVAILABLE = problem(503, 'EngineUnavailableError', {}, { 'Retry-After': '3' })
const RUN = { workflowId: 'x', runId: 'r' }
const COMPLETED = { workflowId: 'x', runId: 'r', status: 'completed', output: 1, error: null }

test('the client: sends the path below the base path, with ids percent-encoded, and the token (threat 101)', async () => {
  const client = clientOf([ok()], { url: 'http://portico.test/base/', token: 's3cret', headers: { traceparent: '00' } })

  await client.status('a/b ü')
  await client.signal({ workflowId: 'x', runId: 'r' }, 'go on')
  await client.list({ searchAttributes: { 'A&B': '1+1' }, pageSize: 2 }).page()

  expect(sent.map(({ url }) => url)).toEqual([
    'http://portico.test/base/workflow/a%2Fb%20%C3%BC/status',
    'http://portico.test/base/workflow/x/runs/r/signal/go%20on',
    'http://portico.test/base/workflow/runs?pageSize=2&searchAttributes%5BA%26B%5D=1%2B1',
  ])
  expect(sent[0]?.headers.get('Authorization')).toBe('Bearer s3cret')
  expect(sent[0]?.headers.get('traceparent')).toBe('00')
  // Next.js caches other responses.
  expect(sent.map(({ cache }) => cache)).toEqual(['no-store', 'no-store', 'no-store'])
})

test('the client: sends every request below the namespace, also after a redirect', async () => {
  const moved = () =>
    new Response(null, { status: 307, headers: { Location: '/base/namespaces/a%2Fb/workflow/x/status' } })
  const client = clientOf([ok(), ok(), moved, ok()], { url: 'http://portico.test/base/', namespace: 'a/b' })

  await client.catalog()
  await client.request('GET', '/capabilities')
  await client.status('moved')

  const below = 'http://portico.test/base/namespaces/a%2Fb'
  expect(sent.map(({ url }) => url)).toEqual([
    `${below}/workflow/catalog`,
    `${below}/capabilities`,
    `${below}/workflow/moved/status`,
    `${below}/workflow/x/status`,
  ])
})

test('the client: a namespace must be a segment of a URL', () => {
  for (const namespace of ['', '.', '..'])
    expect(() => clientOf([], { namespace })).toThrow(`${JSON.stringify(namespace)} is not a namespace`)
})

test('the client: waits as long as Retry-After says', async () => {
  const status = clientOf([UNAVAILABLE, ok({ status: 'running' })]).status('x')

  await vi.advanceTimersByTimeAsync(2900)
  const before = sent.length
  await vi.advanceTimersByTimeAsync(200)

  expect([before, sent.length]).toEqual([1, 2])
  expect(await status).toEqual({ status: 'running' })
})

test('the client: gives up when the service has not responded for retryMs', async () => {
  const status = settled(clientOf([UNAVAILABLE], { retryMs: 7000 }).status('x'))

  await vi.advanceTimersByTimeAsync(20_000)

  expect((await status).error).toBe('EngineUnavailableError')
  expect(sent).toHaveLength(3)
})

test('the client: an abort ends the pause before the next attempt', async () => {
  const controller = new AbortController()
  const status = settled(clientOf([UNAVAILABLE]).status('x', { signal: controller.signal }))

  await vi.advanceTimersByTimeAsync(100)
  controller.abort('enough')

  expect(await status).toBe('enough')
  expect(sent).toHaveLength(1)
})

test('run: sends the same key with each attempt, and then waits for the run of the response', async () => {
  const accepted: Respond = () => Response.json({ workflowId: 'a/b', runId: 'r', status: 'running' }, { status: 202 })
  const still = problem(
    424,
    'WorkflowExecutionTimedOutError',
    { workflowId: 'a/b', runId: 'r' },
    { 'Retry-After': '1' },
  )
  const run = clientOf([cut, accepted, still, ok(COMPLETED)]).run('echo', { input: 1 })

  // After a response that came too early, the next request is sent when Retry-After is over.
  await vi.advanceTimersByTimeAsync(900)
  const early = sent.length
  await vi.advanceTimersByTimeAsync(1000)

  expect([early, await run]).toEqual([3, 1])
  const keys = sent.map(({ headers }) => headers.get('Idempotency-Key'))
  expect(keys).toEqual([expect.stringMatching(/^[\da-f]{32}$/), keys[0], null, null])
  expect(sent.map(({ url }) => url)).toEqual([
    'http://portico.test/workflow/run',
    'http://portico.test/workflow/run',
    'http://portico.test/workflow/a%2Fb/result?wait=25000',
    'http://portico.test/workflow/a%2Fb/result?wait=25000',
  ])
  expect(sent[0]?.headers.get('Prefer')).toBe('respond-async, wait=25')
  expect(sent.map(({ headers }) => headers.get('Last-Event-ID')).slice(2)).toEqual(['a%2Fb/r', 'a%2Fb/r'])
})

test('result: waits for a shorter time after a connection was cut', async () => {
  const cutAfter4s: Respond = (request) => {
    vi.setSystemTime(Date.now() + 4000)
    return cut(request)
  }
  const result = clientOf([cutAfter4s, ok(COMPLETED)]).result({ workflowId: 'x', runId: 'r' })

  await vi.advanceTimersByTimeAsync(1000)

  expect(await result).toBe(1)
  expect(sent.map(({ url }) => new URL(url).search)).toEqual(['?wait=25000', '?wait=2000'])
})

test('start: with terminate-existing there is no key, and nothing is repeated', async () => {
  const start = settled(
    clientOf([cut]).start('echo', { workflowId: 'x', workflowIdConflictPolicy: 'terminate-existing' }),
  )

  await vi.advanceTimersByTimeAsync(100_000)

  expect(await start).toMatchObject({
    error: 'ConnectionError',
    workflowId: 'x',
    message: expect.stringContaining('ECONNRESET'),
  })
  expect(sent.map(({ headers, body }) => [headers.get('Idempotency-Key'), body])).toEqual([
    [null, { workflowName: 'echo', workflowId: 'x', workflowIdConflictPolicy: 'terminate-existing', args: [] }],
  ])
})

test('stop: is repeated only for one run', async () => {
  const calls = ['x', { workflowId: 'x', runId: 'r' }].map((ref) => settled(clientOf([cut, ok()]).stop(ref)))

  await vi.advanceTimersByTimeAsync(1000)

  const [ofChain, ofRun] = await Promise.all(calls)
  expect(ofChain).toMatchObject({ error: 'ConnectionError', mayHaveTakenEffect: true, attempts: 1 })
  expect(ofChain?.message).toBe('PATCH /workflow/x/stop: fetch failed: ECONNRESET; it may have been carried out')
  expect(ofRun).toEqual({})
  expect(sent.filter(({ url }) => !url.includes('/runs/'))).toHaveLength(1)
})

test('a JSON error of a gateway is not an error of Portico: only what can be repeated is sent again', async () => {
  const body = { statusCode: 503, error: 'Service Unavailable', message: 'no upstream' }
  const gateway: Respond = () => Response.json(body, { status: 503, headers: { 'Retry-After': '1' } })
  const client = clientOf([gateway], { retryMs: 1500 })

  const errors = Promise.all([client.terminate(RUN), client.status('x')].map((call) => call.catch((error) => error)))
  await vi.advanceTimersByTimeAsync(10_000)

  expect((await errors).map(({ error, status }) => [error, status])).toEqual([
    ['UnexpectedResponseError', 503],
    ['UnexpectedResponseError', 503],
  ])
  expect(sent.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET'])
})

test('an error of Portico is one whatever a proxy adds to its Content-Type', async () => {
  const client = clientOf([
    problem(404, 'WorkflowNotFoundError', {}, { 'Content-Type': 'Application/Problem+JSON ; charset=utf-8' }),
  ])

  expect(await client.status('x').catch((error) => error.error)).toBe('WorkflowNotFoundError')
})

test.for(['', '.', '..'])(
  'an id or a name that would be another path is rejected without a request: "%s" (threat 101)',
  async (text) => {
    const client = clientOf([ok()])
    const calls = [
      () => client.terminate({ workflowId: 'order-17', runId: text }),
      () => client.status(text),
      () => client.signal('order-17', text),
      () => client.catalog(text),
    ]

    for (const call of calls) await expect(async () => call()).rejects.toThrow(TypeError)
    expect(sent).toEqual([])
  },
)

test('an invalid URL or token is rejected with a message that does not contain it (threat 100)', () => {
  const urls = [
    'http://user:secret@portico.test',
    'ftp://portico.test/secret',
    'http://portico.test?secret=1',
    'secret',
  ]
  const messages = [...urls.map((url) => ({ url })), { token: 'secret\n' }].map((options) => {
    try {
      return clientOf([], options)
    } catch (error) {
      return String(error)
    }
  })

  expect(messages.map((message) => String(message).slice(0, 14))).toEqual([
    ...urls.map(() => 'TypeError: url'),
    'TypeError: tok',
  ])
  expect(messages.join()).not.toContain('secret')
})

test('the options of a start cannot replace the name of the workflow', async () => {
  const client = clientOf([ok({ workflowId: 'w', runId: 'r', status: 'running' })])

  await client.start('greet', { workflowName: 'order', input: 1 } as object)

  expect(sent[0]?.body).toMatchObject({ workflowName: 'greet' })
})

test('catalog: that of the client is the default of starts and of catalog()', async () => {
  const client = clientOf([ok({ ...COMPLETED, workflows: [] })], { catalog: 'orders/a' })
  const order = client.workflow('order')

  await client.run('order')
  await client.start('order', { catalog: undefined })
  await order.signalWithStart('approve', {})
  await order.updateWithStart('priority', {})
  await client.catalog()
  await client.start('order', { catalog: 'other' })
  await client.catalog('other')

  expect(sent.slice(0, 4).map(({ body }) => body)).toEqual(
    Array(4).fill(expect.objectContaining({ catalog: 'orders/a' })),
  )
  expect(sent[4]?.url).toBe('http://portico.test/workflow/catalog/orders%2Fa')
  expect(sent[5]?.body).toMatchObject({ catalog: 'other' })
  expect(sent[6]?.url).toBe('http://portico.test/workflow/catalog/other')
})

test('an error: its facts are those of the response, which cannot replace the name, the stack or the class (threat 101)', async () => {
  const facts = { name: 'Mine', stack: 'mine', cause: 'mine', constructor: 'mine', sizeBytes: 7 }
  const hostile: Respond = () =>
    new Response(`{"error":"NotFoundError","message":"m","__proto__":{"error":"x"},${JSON.stringify(facts).slice(1)}`, {
      status: 404,
      headers: { 'Content-Type': 'application/problem+json' },
    })

  const error = await settled(clientOf([hostile]).status('x'))

  expect(error).toBeInstanceOf(PorticoError)
  expect(error).toMatchObject({ name: 'NotFoundError', error: 'NotFoundError', status: 404, sizeBytes: 7 })
  const found = [error.cause, error.constructor, String(error.stack).includes('NotFoundError: m')]
  expect(found).toEqual([undefined, PorticoError, true])
})

test('result: onOpen gets each response about the open run, and the error has what the last one says', async () => {
  const failing = { kind: 'workflow_task_failing', attempt: 3, since: null, message: 'a bug' }
  const ids = { workflowId: 'x', runId: 'r', workflowStatus: 'running' }
  const ended = async (problems: object[]) => {
    sent.length = 0
    const responses = problems.map(
      (facts): Respond =>
        (request) => {
          vi.setSystemTime(Date.now() + 200)
          return problem(424, 'WorkflowExecutionTimedOutError', { ...ids, ...facts })(request)
        },
    )
    const states: unknown[] = []
    const failed = settled(clientOf(responses).result('x', { timeoutMs: 500, onOpen: (run) => states.push(run) }))
    await vi.advanceTimersByTimeAsync(10)
    return { states, error: (await failed) as PorticoError }
  }

  const lasting = await ended([{}, { problem: failing }, { problem: failing }])
  const over = await ended([{ problem: failing }, {}, {}])
  const paused = await ended([{}, {}, { workflowStatus: 'paused' }])

  expect(lasting.states).toEqual([ids, { ...ids, problem: failing }, { ...ids, problem: failing }])
  expect(lasting.error).toMatchObject({ error: 'WorkflowExecutionTimedOutError', problem: failing })
  expect(lasting.error.message).toBe(
    'Workflow x did not complete within 500 ms; its workflow task is failing (attempt 3); the worker reported: a bug',
  )
  expect(over.states).toEqual([{ ...ids, problem: failing }, ids, ids])
  expect([over.error.message, over.error.problem]).toEqual(['Workflow x did not complete within 500 ms', undefined])
  expect(paused.error.message).toBe('Workflow x did not complete within 500 ms and is paused')
})
