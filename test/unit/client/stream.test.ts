/** How the client reads a stream, with responses that the test writes. The clock is virtual. */
import { expect, test, vi } from 'vitest'
import type { StreamEvent, StreamOptions } from '../../../src/client/index.ts'
import { clientOf, cut, ok, problem, type Respond, resetBeforeEach, sent } from './scripted-service.ts'

resetBeforeEach()

const RUN_ID = '01a208f4-a730-742e-81e9-92b88320ed51'
const RUN = { workflowId: 'w', runId: RUN_ID }
const at = (offset: number | '-' | string) => `${offset}@${RUN_ID}`

const frame = (event: string, data: unknown, id?: string) =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
const workflow = (from = 0) => `retry: 2000\n\n${frame('workflow', { ...RUN, status: 'running', from })}`
const item = (offset: number, data: unknown = offset) => frame('item', { offset, topic: 't', data }, at(offset))
const ended = { ...RUN, status: 'completed', completedAt: '2026-01-01T00:00:00.000Z', next: 2, complete: true }
const done = frame('done', ended, at('1').concat('/end'))

const HEADERS = { 'Content-Type': 'text/event-stream' }

/** A connection that is closed after these frames. */
const events =
  (...frames: string[]): Respond =>
  () =>
    new Response(frames.join(''), { headers: HEADERS })

/** A connection that sends these parts, and then nothing. */
const parts =
  (...texts: (string | Uint8Array)[]): Respond =>
  ({ signal }) => {
    const encoder = new TextEncoder()
    const body = new ReadableStream({
      start(controller) {
        for (const text of texts) controller.enqueue(typeof text === 'string' ? encoder.encode(text) : text)
        signal?.addEventListener('abort', () => controller.error(signal.reason))
      },
    })
    return new Response(body, { headers: HEADERS })
  }

/** The result of reading all, after as much time as that takes. */
async function readAll<Item>(items: AsyncIterable<Item>): Promise<{ items: Item[]; error?: unknown }> {
  const read: Item[] = []
  const all = (async () => {
    for await (const one of items) read.push(one)
    return { items: read }
  })().catch((error: unknown) => ({ items: read, error }))
  await vi.advanceTimersByTimeAsync(600_000)
  return all
}

const stream = (responses: Respond[], options?: StreamOptions, ...client: Parameters<typeof clientOf>[1][]) =>
  clientOf(responses, ...client).stream({ ...RUN }, options)

const lastEventIds = () => sent.map(({ headers }) => headers.get('Last-Event-ID'))

test('stream: yields the items with their ids, and ends at done', async () => {
  const { items, error } = await readAll(stream([events(workflow(), item(0, { text: 'a' }), item(1), done)]))

  expect(error).toBeUndefined()
  expect(items).toEqual([
    { offset: 0, topic: 't', data: { text: 'a' }, id: at(0) },
    { offset: 1, topic: 't', data: 1, id: at(1) },
  ])
  expect(sent).toHaveLength(1)
  expect(sent[0]?.headers.get('Accept')).toBe('text/event-stream')
})

test('stream: sends topics, from and the run below the namespace, with the token', async () => {
  const client = clientOf([events(done)], { namespace: 'acme', token: 's3cret' })

  await readAll(
    client
      .workflow('chat')
      .get('a/b')
      .stream({ topics: ['x y', 'z'], from: 'now' }),
  )
  await readAll(client.stream({ ...RUN, workflowId: 'w' }, { from: at(3) }))

  expect(sent.map(({ url }) => url)).toEqual([
    'http://portico.test/namespaces/acme/workflow/a%2Fb/stream?topic=x+y&topic=z&from=now',
    `http://portico.test/namespaces/acme/workflow/w/runs/${RUN_ID}/stream?from=3%40${RUN_ID}`,
  ])
  expect(sent[0]?.headers.get('Authorization')).toBe('Bearer s3cret')
})

test('stream: sends nothing before it is iterated', () => {
  stream([events(done)])

  expect(sent).toEqual([])
})

test('stream: continues after the last id when the connection is lost, without losing or repeating an item', async () => {
  const responses = [events(workflow(), item(0)), cut, events(workflow(1), item(1), item(2)), events(workflow(3), done)]

  const { items, error } = await readAll(stream(responses))

  expect(error).toBeUndefined()
  expect(items.map(({ offset }) => offset)).toEqual([0, 1, 2])
  expect(lastEventIds()).toEqual([null, at(0), at(0), at(2)])
})

test('stream: an event that has only an id moves its place', async () => {
  const { items } = await readAll(
    stream([events(workflow(), item(0), `: still running\nid: ${at(8)}\n\n`), events(done)]),
  )

  expect(items).toHaveLength(1)
  expect(lastEventIds()).toEqual([null, at(8)])
})

test('stream: ignores an event whose end was lost, and its id', async () => {
  const torn = item(1).slice(0, -1)

  const { items } = await readAll(stream([events(workflow(), item(0), torn), events(item(1), done)]))

  expect(items.map(({ offset }) => offset)).toEqual([0, 1])
  expect(lastEventIds()).toEqual([null, at(0)])
})

test('stream: without an item it continues where it began, although that was now', async () => {
  await readAll(stream([events(workflow(7)), events(done)], { from: 'now' }))
  const fromNow = sent.splice(0)
  await readAll(
    stream([events(frame('workflow', { ...RUN, status: 'running', from: 'now' })), events(done)], { from: 'now' }),
  )
  const unknown = sent.splice(0)
  await readAll(stream([events(workflow(0)), events(done)]))

  expect(fromNow.map(({ headers }) => headers.get('Last-Event-ID'))).toEqual([null, at(6)])
  expect(fromNow.map(({ url }) => new URL(url).search)).toEqual(['?from=now', ''])
  // Without a worker the service does not know the offset yet.
  expect(unknown.map(({ url }) => new URL(url).search)).toEqual(['?from=now', '?from=now'])
  expect(lastEventIds()).toEqual([null, at('-')])
})

test('stream: the handle of start begins with the run that was started', async () => {
  const run = await clientOf([ok(RUN), events(done)]).start('chat')

  await readAll(run.stream())
  await readAll(run.stream({ from: 5 }))
  await readAll(run.stream({ from: 'now' }))

  expect(sent.slice(1).map(({ url }) => new URL(url).pathname + new URL(url).search)).toEqual([
    '/workflow/w/stream',
    '/workflow/w/stream',
    '/workflow/w/stream?from=now',
  ])
  expect(lastEventIds().slice(1)).toEqual([at('-'), at(4), null])
})

test('stream: parses events in any parts, and characters that are split', async () => {
  const bytes = new TextEncoder().encode(`${workflow()}${item(0, 'é\u2028: 日')}${done}`)
  const inSplit = (size: number) =>
    Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) => bytes.subarray(n * size, (n + 1) * size))

  for (const size of [1, 2, 7, bytes.length]) {
    sent.length = 0
    const { items } = await readAll(stream([parts(...inSplit(size))]))
    expect(items.map(({ data }) => data)).toEqual(['é\u2028: 日'])
  }
})

test('stream: understands CRLF, data of several lines, and fields without a space', async () => {
  const text = `id:${at(0)}\r\nevent:item\r\ndata:{"offset":0,\r\ndata:"topic":"t","data":[]}\r\n\r\n`

  const { items } = await readAll(stream([events(text, done)]))

  expect(items).toEqual([{ offset: 0, topic: 't', data: [], id: at(0) }])
})

test('stream: an integer that a number cannot hold is a bigint, and parse replaces that', async () => {
  const large = item(0).replace('"data":0', '"data":9007199254740993')
  const parse = (json: string) => JSON.parse(json.replace('9007199254740993', '"large"'))

  const read = await readAll(stream([events(large, done)]))
  sent.length = 0
  const parsed = await readAll(stream([events(large, done)], {}, { parse }))

  expect([...read.items, ...parsed.items]).toMatchObject([{ data: 9007199254740993n }, { data: 'large' }])
})

test('stream: opens a new connection after 30 s without a byte; a comment is enough', async () => {
  const comments = ({ signal }: { signal: AbortSignal | undefined }) => {
    const body = new ReadableStream({
      start(controller) {
        const send = (text: string) => controller.enqueue(new TextEncoder().encode(text))
        send(workflow())
        const timer = setInterval(() => send(': still running\n\n'), 10_000)
        setTimeout(() => clearInterval(timer), 95_000)
        signal?.addEventListener('abort', () => controller.error(signal.reason))
      },
    })
    return new Response(body, { headers: HEADERS })
  }
  const onRetry = vi.fn()
  const beganAt = Date.now()
  let lostAfterMs = 0
  onRetry.mockImplementation(() => {
    lostAfterMs = Date.now() - beganAt
  })

  const { items } = await readAll(stream([comments, events(done)], {}, { onRetry }))

  expect(items).toEqual([])
  expect(lostAfterMs).toBe(120_000)
  expect(onRetry.mock.calls).toMatchObject([
    [{ error: { message: `GET /workflow/w/runs/${RUN_ID}/stream: nothing was received for 30000 ms` } }],
  ])
  expect(lastEventIds()).toEqual([null, at('-')])
})

test('stream: ends when the service has sent its last event before', async () => {
  const { items, error } = await readAll(stream([() => new Response(null, { status: 204 })], { from: `${at(1)}/end` }))

  expect([items, error]).toEqual([[], undefined])
})

test.for([
  [404, 'StreamNotFoundError'],
  [404, 'WorkflowNotFoundError'],
  [403, 'ForbiddenError'],
  [400, 'ValidationError'],
] as const)('stream: throws the error of the response: %i %s', async ([status, name]) => {
  const { error } = await readAll(stream([problem(status, name)]))

  expect(error).toMatchObject({ error: name, status })
  expect(sent).toHaveLength(1)
})

test.for([429, 503])('stream: waits as long as Retry-After of a %i says', async (status) => {
  const limited = problem(status, 'ResourceExhaustedError', {}, { 'Retry-After': '7' })
  const reading = readAll(stream([limited, events(done)]))
  const beganAt = Date.now()
  let openedAt = 0
  await vi.waitFor(() => expect(sent).toHaveLength(2)).then(() => (openedAt = Date.now()))

  await reading
  expect(openedAt - beganAt).toBeGreaterThanOrEqual(7000)
})

test('stream: throws a server_error with a final id', async () => {
  const body = { status: 503, error: 'EngineUnavailableError', message: 'gone', workflowId: 'w', requestId: 'q' }
  const final = frame('server_error', body, `${at(0)}/end`)

  const { items, error } = await readAll(stream([events(workflow(), item(0), final)]))

  expect(items).toHaveLength(1)
  expect(error).toMatchObject({ error: 'EngineUnavailableError', status: 503, message: 'gone', requestId: 'q' })
  expect(sent).toHaveLength(1)
})

test('stream: continues after a server_error that can be resumed', async () => {
  const failed = frame('server_error', { status: 429, error: 'ResourceExhaustedError', message: 'later' }, at(0))

  const { items, error } = await readAll(stream([events(workflow(), item(0), failed), events(item(1), done)]))

  expect(error).toBeUndefined()
  expect(items).toHaveLength(2)
  expect(lastEventIds()).toEqual([null, at(0)])
})

test('stream: throws a server_error that ends every connection at once, after retryMs', async () => {
  const failed = frame('server_error', { status: 429, error: 'ResourceExhaustedError', message: 'later' }, at(0))

  const { error } = await readAll(stream([events(workflow(), failed)], {}, { retryMs: 20_000 }))

  expect(error).toMatchObject({ error: 'ResourceExhaustedError', attempts: sent.length })
  expect(sent.length).toBeLessThan(20)
})

test('stream: a connection that lasts, and one that brings an item, begin the time of retryMs again', async () => {
  const lasting: Respond = () => {
    const start = (controller: ReadableStreamDefaultController) => void setTimeout(() => controller.close(), 1500)
    return new Response(new ReadableStream({ start }), { headers: HEADERS })
  }
  const lost = Array.from({ length: 30 }, (_, n) => (n % 2 === 0 ? events(workflow(), item(n)) : lasting))

  const { items, error } = await readAll(stream([...lost, events(done)], {}, { retryMs: 1000 }))

  expect(error).toBeUndefined()
  expect(items).toHaveLength(15)
})

test('stream: with retryMs 0 a lost connection is an error', async () => {
  const { items, error } = await readAll(stream([events(workflow(), item(0))], {}, { retryMs: 0 }))

  expect(items).toHaveLength(1)
  expect(error).toMatchObject({
    error: 'ConnectionError',
    message: expect.stringContaining('the connection was closed'),
  })
})

test('stream: onRetry is called for a lost connection', async () => {
  const onRetry = vi.fn()

  await readAll(stream([events(workflow(), item(0)), events(done)], {}, { onRetry }))

  expect(onRetry.mock.calls).toMatchObject([[{ attempts: 1, error: { error: 'ConnectionError' } }]])
})

test('stream: a response that is not a stream is an UnexpectedResponseError', async () => {
  const { error } = await readAll(stream([ok({ items: [] })]))

  expect(error).toMatchObject({
    error: 'UnexpectedResponseError',
    status: 200,
    message: `GET /workflow/w/runs/${RUN_ID}/stream: the response is not a stream`,
  })
})

test('stream: an abort ends it with the reason of the signal, and closes the connection', async () => {
  const controller = new AbortController()
  const read: unknown[] = []
  const reading = (async () => {
    for await (const one of stream([parts(workflow(), item(0))], { signal: controller.signal })) read.push(one)
  })().catch((error: unknown) => error)
  await vi.advanceTimersByTimeAsync(10)

  controller.abort('enough')

  expect(await reading).toBe('enough')
  expect(read).toHaveLength(1)
  expect(sent[0]?.signal?.aborted).toBe(true)
})

test('stream: leaving the loop closes the connection', async () => {
  for await (const { offset } of stream([parts(workflow(), item(0), item(1))])) if (offset === 0) break

  expect(sent[0]?.signal?.aborted).toBe(true)
})

test('stream: throws if items are lost, and says which', async () => {
  const lost = frame('truncated', { from: 1, to: 4 })

  const { items, error } = await readAll(stream([events(workflow(), item(0), lost, item(4), done)]))

  expect(items).toHaveLength(1)
  expect(error).toMatchObject({
    error: 'StreamTruncatedError',
    message: 'Stream of workflow w: items 1 to 3 are lost. Continue with from: 4, or use events()',
    workflowId: 'w',
    truncated: { from: 1, to: 4 },
  })
})

test('events: has lost items, the next run, its reset and the end', async () => {
  const next = '780b08f4-a730-742e-81e9-92b88320ed51'
  const continued = { workflowId: 'w', runId: next, continuedFrom: RUN_ID, reset: true }
  const frames = [workflow(), frame('truncated', { from: 0, to: 4 }), item(4), frame('continued', continued), done]
  const unknown = frame('later-version', {})

  const { items, error } = await readAll<StreamEvent>(stream([events(unknown, ...frames)]).events())

  expect(error).toBeUndefined()
  expect(items).toEqual([
    { type: 'workflow', ...RUN, status: 'running', from: 0 },
    { type: 'truncated', from: 0, to: 4 },
    { type: 'item', offset: 4, topic: 't', data: 4, id: at(4) },
    { type: 'continued', ...continued },
    { type: 'done', ...ended },
  ])
})

test('publish: sends one item or several to the run, with a key', async () => {
  const client = clientOf([ok(RUN), ok(RUN), cut, ok(RUN)])

  const one = client.publish('w', { topic: 't', data: { n: 1 } })
  await vi.advanceTimersByTimeAsync(1000)
  const several = client.publish(
    { ...RUN },
    [
      { topic: 't', data: 1 },
      { topic: 'u', data: null },
    ],
    { idempotencyKey: 'k' },
  )
  await vi.advanceTimersByTimeAsync(1000)

  expect([await one, await several]).toEqual([RUN, RUN])
  expect(sent.map(({ method, url }) => `${method} ${new URL(url).pathname}`)).toEqual([
    'GET /workflow/w/status',
    `POST /workflow/w/runs/${RUN_ID}/stream`,
    `POST /workflow/w/runs/${RUN_ID}/stream`,
    `POST /workflow/w/runs/${RUN_ID}/stream`,
  ])
  expect(sent.slice(1).map(({ body }) => body)).toEqual([
    { topic: 't', data: { n: 1 } },
    {
      items: [
        { topic: 't', data: 1 },
        { topic: 'u', data: null },
      ],
    },
    {
      items: [
        { topic: 't', data: 1 },
        { topic: 'u', data: null },
      ],
    },
  ])
  const keys = sent.slice(1).map(({ headers }) => headers.get('Idempotency-Key'))
  expect(keys).toEqual([expect.stringMatching(/^[\da-f]{32}$/), 'k', 'k'])
})
