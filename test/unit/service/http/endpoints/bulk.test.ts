import { expect, test } from 'vitest'
import type { Workflows } from '../../../../../src/service/verbs.ts'
import { type ApiOptions, inChunks, makeApi, NO_METRICS } from '../api.ts'
import { bearer, tokenPolicy } from '../policies.ts'

const RUN_ID = '3f2504e0-4f89-41d3-9a0c-0305e82c3301'
const PINNED = '9c1b2d3e-4f5a-4b6c-8d7e-0f1a2b3c4d5e'
const NDJSON = { 'Content-Type': 'application/x-ndjson' }
const START = { workflowName: 'order', input: null }

/** A service whose starts wait for `released`, and how many of them run at a time. */
function makeBulkApi(options: ApiOptions = {}, released: Promise<unknown> = Promise.resolve()) {
  const seen = { now: 0, most: 0, keys: [] as (string | undefined)[] }
  let inFlight = 0
  const metrics = {
    ...NO_METRICS,
    inFlightChanged(by: number) {
      inFlight += by
    },
  }
  const workflows: Partial<Workflows> = {
    async start({ workflowId = 'made', idempotencyKey }) {
      seen.now++
      seen.most = Math.max(seen.most, seen.now)
      seen.keys.push(idempotencyKey)
      await released
      seen.now--
      return { workflowId, runId: RUN_ID }
    },
    signal: async ({ ref, idempotencyKey }) => {
      seen.keys.push(idempotencyKey)
      return { workflowId: ref.workflowId, runId: ref.runId ?? RUN_ID, warnings: [] }
    },
    stop: async ({ ref }) => ({ workflowId: ref.workflowId, runId: RUN_ID, cancelRequested: true, status: 'running' }),
  }
  const api = makeApi({ workflows, metrics, ...options })
  return { ...api, seen, inFlight: () => inFlight }
}

const toLines = (lines: readonly unknown[]) =>
  lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n')

const parsed = (text: string) =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

/** The answers of a bulk by their index, and the last line. */
async function bulk({ call }: Pick<ReturnType<typeof makeApi>, 'call'>, lines: readonly unknown[], headers = {}) {
  const response = await call('POST', '/workflow/bulk', toLines(lines), { ...NDJSON, ...headers })
  const answers = parsed(await response.text())
  const end = answers.pop()
  return { response, answers: answers.toSorted((one, other) => one.index - other.index), end }
}

test.for<[line: object, path: string]>([
  [[START], ''],
  [{ op: 'run' }, '/op'],
  [{ op: 7 }, '/op'],
  [{ op: 'toString' }, '/op'],
  [{ op: 'signal', workflowId: 'w' }, '/name'],
  [{ op: 'signal', name: 'n' }, '/workflowId'],
  [{ op: 'signal-with-start', workflowName: 'order', input: null }, '/name'],
  [{ op: 'signal', workflowId: 'w', name: '__stack_trace' }, '/name'],
  [{ op: 'stop', workflowId: '..' }, '/workflowId'],
  [{ op: 'stop', workflowId: 'w', runId: '..' }, '/runId'],
  [{ op: 'terminate', workflowId: '\ud800' }, '/workflowId'],
  [{ ...START, key: 'a\nb' }, '/key'],
  [{ ...START, key: '' }, '/key'],
])('bulk: the line %j is a 400 at %s', async ([line, path]) => {
  const { answers } = await bulk(makeBulkApi(), [line])

  expect(answers).toEqual([{ index: 0, status: 400, body: expect.objectContaining({ error: 'ValidationError' }) }])
  expect(answers[0].body.issues).toEqual([{ path, message: expect.any(String) }])
})

test.for<[headers: Record<string, string>, body: string | undefined, status: number]>([
  [{}, undefined, 400],
  [{}, '\n \n', 400],
  [{ 'Content-Encoding': 'gzip' }, toLines([START]), 415],
  [{ 'Content-Type': 'application/jsonl; charset=utf-8' }, toLines([START]), 200],
  [{ 'Content-Type': 'application/ndjson' }, toLines([START]), 200],
])('bulk: with %j, the body %j is a %i', async ([headers, body, status]) => {
  const api = makeBulkApi()

  const response = await api.call('POST', '/workflow/bulk', body, { ...NDJSON, ...headers })
  await response.text()

  expect([response.status, api.seen.keys.length]).toEqual([status, status === 200 ? 1 : 0])
})

test('bulk: skips lines of white space, and the request id of a line is that of the bulk with its index', async () => {
  const api = makeBulkApi({ bulkConcurrency: 1 })

  const lines = ['', ' \r', '\r', START, '', '[1]', { op: 'run' }, '']
  const { answers, end, response } = await bulk(api, lines, { 'X-Request-Id': 'all' })

  expect(answers.map(({ status, body }) => [status, body.requestId])).toEqual([
    [200, undefined],
    [400, 'all.1'],
    [400, 'all.2'],
  ])
  expect(end).toEqual({ done: true, items: 3, succeeded: 1, failed: 2 })
  expect([response.status, response.headers.get('Content-Type')]).toEqual([200, 'application/x-ndjson'])
  expect(api.events.filter(({ message }) => message === 'request').map(({ fields }) => fields)).toMatchObject([
    { requestId: 'all.0' },
    { requestId: 'all.1' },
    { route: '/workflow/bulk', requestId: 'all', items: 3 },
  ])
})

test('bulk: a line with a run id is about that run', async () => {
  const { answers } = await bulk(makeBulkApi(), [{ op: 'signal', workflowId: 'w', runId: PINNED, name: 'n' }])

  expect(answers[0].body.runId).toBe(PINNED)
})

test('bulk: a line has its own key, or that of the bulk with its index', async () => {
  const api = makeBulkApi({ bulkConcurrency: 1 })

  await bulk(api, [START, { ...START, key: 'own' }, { op: 'signal', workflowId: 'w', name: 'n' }], {
    'Idempotency-Key': 'k',
  })

  expect(api.seen.keys).toEqual(['k:0', 'own', 'k:2'])
})

test('bulk: a name that a URL would resolve is a 400, and reaches no other path', async () => {
  const { answers } = await bulk(makeBulkApi(), [{ op: 'signal', workflowId: 'w', name: '..' }])

  expect(answers[0]).toMatchObject({ status: 400, body: { message: expect.stringContaining('".."') } })
})

test('bulk: the line after 10,000 is a 413, and the rest is read and dropped', async () => {
  const api = makeBulkApi()

  const { answers, end } = await bulk(
    api,
    Array.from({ length: 10_500 }, () => ({ op: 'stop', workflowId: 'w' })),
  )

  expect(answers.length).toBe(10_001)
  expect(answers.at(-1)).toMatchObject({ index: 10_000, status: 413, body: { error: 'PayloadTooLargeError' } })
  expect(end).toEqual({ done: true, items: 10_001, succeeded: 10_000, failed: 1 })
  expect(api.inFlight()).toBe(0)
})

test('bulk: a line that is too long is a 413, and the whole may be longer', async () => {
  const api = makeBulkApi({ maxBodyBytes: 100 })
  const fits = JSON.stringify({ workflowName: 'x'.repeat(68), input: null })

  const { answers } = await bulk(api, [fits, fits.replace('x', 'xx'), fits])
  const small = await bulk(api, [fits], { 'Content-Length': '1000' })

  expect(fits.length).toBe(100)
  expect([...answers, ...small.answers].map(({ status }) => status)).toEqual([200, 413, 200, 200])
})

/** A bulk whose body the test sends in parts, and of which it reads the answers. */
async function openBulk({ fetch }: Pick<ReturnType<typeof makeApi>, 'fetch'>, ...first: unknown[]) {
  const body = new TransformStream<string, Uint8Array>({
    transform: (text, controller) => controller.enqueue(new TextEncoder().encode(text)),
  })
  const writer = body.writable.getWriter()
  const send = (...lines: unknown[]) => writer.write(`${toLines(lines)}\n`)
  void send(...first)
  const response = await fetch(inChunks('/workflow/bulk', body.readable, NDJSON))
  const reader = (response.body as ReadableStream<BufferSource>).pipeThrough(new TextDecoderStream()).getReader()
  return { response, reader, send, writer }
}

test('bulk: answers while the body arrives, so many lines at a time, each with a place and the bulk without', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const api = makeBulkApi({ bulkConcurrency: 3 }, released)

  const { reader, send, writer } = await openBulk(api, { op: 'stop', workflowId: 'w' })
  const first = parsed((await reader.read()).value ?? '')
  const idle = api.inFlight()
  void send(...Array.from({ length: 5 }, () => START))
  await expect.poll(() => api.seen.now).toBe(3)
  const busy = api.inFlight()
  release()
  await writer.close()
  let rest = ''
  for (let next = await reader.read(); !next.done; next = await reader.read()) rest += next.value

  expect(first).toMatchObject([{ index: 0, status: 200 }])
  expect([idle, busy, api.inFlight()]).toEqual([0, 3, 0])
  expect(api.seen.most).toBe(3)
  expect(parsed(rest).at(-1)).toMatchObject({ done: true, items: 6, succeeded: 6 })
})

test('bulk: has no more lines in flight than its caller may have', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const policy = tokenPolicy({ name: 'few', can: ['start'], ids: ['*'], limits: { inFlight: 2 } })
  const api = makeBulkApi({ auth: { policy } }, released)

  const lines = bulk(api, [START, START, START, START, START], bearer('few'))
  await expect.poll(() => api.seen.now).toBe(2)
  release()
  const { answers } = await lines

  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
  expect(api.seen.most).toBe(2)
})

test('bulk: nothing for as long as a body may take ends it; what was read is finished, and nothing says done', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const api = makeBulkApi({ bodyTimeoutMs: 50 }, released)

  const { reader, writer } = await openBulk(api, START, START)
  void writer.write('{"op":"stop","workflowId":"half"}')
  await expect.poll(() => api.seen.now).toBe(2)
  await new Promise((resolve) => setTimeout(resolve, 100))
  release()
  let text = ''
  const failure = await (async () => {
    for (let next = await reader.read(); !next.done; next = await reader.read()) text += next.value
  })().catch((error) => error)

  expect(failure).toMatchObject({ message: expect.stringContaining('50 ms') })
  expect(parsed(text).map(({ index, status }) => [index, status])).toEqual([
    [0, 200],
    [1, 200],
  ])
  expect(api.inFlight()).toBe(0)
})

test('bulk: a client that leaves ends the reading; what was read is finished, and a line without its end is not', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const api = makeBulkApi({ bulkConcurrency: 2 }, released)

  const { reader, writer } = await openBulk(api, START, START, START, '{"workflowName":"order","input":null}{')
  await expect.poll(() => api.seen.now).toBe(2)
  await reader.cancel()
  void writer.write(`${toLines([START])}\n`).catch(() => {})
  release()
  await expect.poll(() => api.events.some(({ fields }) => fields.route === '/workflow/bulk')).toBe(true)

  expect(api.seen.keys.length).toBe(3)
  expect(api.inFlight()).toBe(0)
})

test('bulk: reads on while the client reads nothing, and closes the connection above 32 MiB', async () => {
  const long = 'x'.repeat(1_000_000)
  const api = makeBulkApi({
    workflows: {
      stop: async () => ({ workflowId: 'w', runId: long, cancelRequested: true, status: 'running' }),
    },
  })
  const lines = Array.from({ length: 40 }, () => ({ op: 'stop', workflowId: 'w' }))

  const fits = await api.call('POST', '/workflow/bulk', toLines(lines.slice(0, 33)), NDJSON)
  const over = await api.call('POST', '/workflow/bulk', toLines(lines), NDJSON)
  await expect.poll(() => api.events.filter(({ fields }) => fields.route === '/workflow/bulk').length).toBe(2)

  expect(parsed(await fits.text()).at(-1)).toMatchObject({ done: true, items: 33 })
  await expect(over.text()).rejects.toThrow('does not read')
})
