/** How the client reads a stream, with responses that the test writes. The clock is virtual. */
import { expect, test, vi } from 'vitest'
import type { StreamEvent } from '../../../src/client/index.ts'
import { clientOf, ok, problem, resetBeforeEach, sent } from './scripted-service.ts'
import {
  at,
  done,
  ended,
  events,
  frame,
  item,
  lastEventIds,
  parts,
  RUN,
  RUN_ID,
  readAll,
  stream,
  workflow,
} from './scripted-stream.ts'

resetBeforeEach()

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
    `http://portico.test/namespaces/acme/workflow/w/runs/${RUN_ID}/stream?from=${RUN_ID}%403`,
  ])
  expect(sent[0]?.headers.get('Authorization')).toBe('Bearer s3cret')
})

test('stream: sends nothing before it is iterated', () => {
  stream([events(done)])

  expect(sent).toEqual([])
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
  expect(lastEventIds().slice(1)).toEqual([RUN_ID, at(4), null])
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

test('stream: ends when the service has sent its last event before', async () => {
  const { items, error } = await readAll(stream([() => new Response(null, { status: 204 })], { from: at('end') }))

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

test('stream: throws a server_error with a final id', async () => {
  const body = { status: 503, error: 'EngineUnavailableError', message: 'gone', workflowId: 'w', requestId: 'q' }
  const final = frame('server_error', body, at('end'))

  const { items, error } = await readAll(stream([events(workflow(), item(0), final)]))

  expect(items).toHaveLength(1)
  expect(error).toMatchObject({ error: 'EngineUnavailableError', status: 503, message: 'gone', requestId: 'q' })
  expect(sent).toHaveLength(1)
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
