import { afterEach, expect, test, vi } from 'vitest'
import { ServiceError } from '../../../../src/domain/model/errors.ts'
import type {
  FollowStreamCommand,
  PublishCommand,
  ReadStreamCommand,
  StreamBatch,
  StreamEvent,
  StreamItem,
} from '../../../../src/domain/model/stream.ts'
import type { Workflows } from '../../../../src/domain/model/workflows.ts'
import { makeApi, rejection, running } from '../api.ts'

afterEach(() => {
  vi.useRealTimers()
})

const RUN_ID = '0198c0de-0000-7000-8000-00000000000a'
const NEXT_ID = '0198c0de-0000-7000-8000-00000000000b'
const PATH = '/workflow/w/stream'
const PINNED = `/workflow/w/runs/${RUN_ID}/stream`
const JSON_ONLY = { Accept: 'application/json' }
const BATCH: StreamBatch = {
  ...{ workflowId: 'w', runId: RUN_ID, status: 'running' },
  ...{ items: [], next: `-@${RUN_ID}`, truncated: null, done: null },
}
const WORKFLOW = { workflowId: 'w', runId: RUN_ID, status: 'running', from: 0 } as const
const FIRST: StreamEvent = { type: 'workflow', workflow: WORKFLOW }
const DONE: StreamEvent = {
  type: 'done',
  done: { workflowId: 'w', runId: RUN_ID, status: 'completed', completedAt: new Date(0), next: 3, complete: true },
}

function itemsAt(from: number, count: number): StreamItem[] {
  return Array.from({ length: count }, (_, at) => ({ offset: from + at, topic: 't', data: 'x' }))
}

function itemsEvent(items: StreamItem[], next: number): StreamEvent {
  return { type: 'items', runId: RUN_ID, items, next }
}

/** The verbs of streams, which record their commands. An error in `events` is thrown after those before it. */
function makeStreams(events: (StreamEvent | Error | Promise<StreamEvent>)[] = [], verbs: Partial<Workflows> = {}) {
  const followed: FollowStreamCommand[] = []
  const read: ReadStreamCommand[] = []
  const published: PublishCommand[] = []
  async function* feed(): AsyncGenerator<StreamEvent> {
    for (const event of events) {
      if (event instanceof Error) throw event
      yield await event
    }
  }
  const api = makeApi({
    workflows: {
      async followStream(command) {
        followed.push(command)
        return { events: feed() }
      },
      async readStream(command) {
        read.push(command)
        return BATCH
      },
      async publish(command) {
        published.push(command)
        return { workflowId: 'w', runId: RUN_ID }
      },
      ...verbs,
    },
  })
  return { ...api, followed, read, published }
}

/** Each event with its id and data. Without data, it only moves the reader. */
function sentIn(text: string): unknown[][] {
  const blocks = text.split('\n\n').filter((block) => block !== '' && !/^(?:retry|:)/.test(block))
  return blocks.map((block) => {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1]
    const data = field('data')
    return [field('event'), field('id'), data === undefined ? undefined : JSON.parse(data)]
  })
}

async function sent(events: (StreamEvent | Error)[]): Promise<unknown[][]> {
  return sentIn(await (await makeStreams(events).call('GET', PATH)).text())
}

test.each([
  [undefined, 'text/event-stream'],
  ['*/*', 'text/event-stream'],
  ['text/event-stream', 'text/event-stream'],
  ['text/event-stream, application/json', 'text/event-stream'],
  ['text/html', 'text/event-stream'],
  ['application/json', 'application/json'],
  ['application/json, */*;q=0.1', 'application/json'],
  ['application/json, text/event-stream;q=0.5', 'application/json'],
])('Accept %s gets %s', async (accept, expected) => {
  const { call } = makeStreams()

  const { headers } = await call('GET', PATH, undefined, accept === undefined ? {} : { Accept: accept })

  expect(headers.get('Content-Type')).toBe(expected)
})

test('events: the parameters become a command', async () => {
  const { call, followed } = makeStreams()
  const position = { next: 8, runId: NEXT_ID, isEnd: false }
  const id = encodeURIComponent(`7@${NEXT_ID.toUpperCase()}`)

  await call('GET', PATH)
  await call('GET', `${PATH}?topic=a&topic=b%26c&from=17`)
  await call('GET', `${PATH}?from=now`)
  await call('GET', `${PATH}?from=${id}`)
  await call('GET', `${PATH}?from=3`, undefined, { 'Last-Event-ID': `7@${NEXT_ID}` })
  await call('GET', PATH, undefined, { 'Last-Event-ID': '' })
  await call('GET', PINNED)

  const base = { ref: { workflowId: 'w' }, from: 0, topics: [], followsChain: true }
  expect(followed).toEqual([
    base,
    { ...base, topics: ['a', 'b&c'], from: 17 },
    { ...base, from: 'now' },
    { ...base, from: position },
    { ...base, from: position },
    base,
    { ...base, ref: { workflowId: 'w', runId: RUN_ID }, followsChain: false },
  ])
})

test('JSON: waits in milliseconds, and for 1000 items by default', async () => {
  const { call, read } = makeStreams()

  const { status, headers } = await call('GET', PATH, undefined, JSON_ONLY)
  await call('GET', `${PATH}?wait=1.5s&limit=7&topic=a`, undefined, JSON_ONLY)

  const base = { ref: { workflowId: 'w' }, from: 0, topics: [], followsChain: true }
  expect([status, headers.get('Content-Type')]).toEqual([200, 'application/json'])
  expect(read).toEqual([
    { ...base, waitMs: 0, maxItems: 1000 },
    { ...base, topics: ['a'], waitMs: 1500, maxItems: 7 },
  ])
})

test.each([
  ['?from=yesterday', '/from'],
  ['?from=-1', '/from'],
  ['?from=1&from=2', '/from'],
  ['?topic=', '/topic/0'],
  ['?limit=0', '/limit'],
  ['?limit=1001', '/limit'],
  ['?wait=61s', '/wait'],
  ['?offset=3', '/offset'],
])('JSON: %s is rejected, and no verb is called', async (parameters, path) => {
  const { call, read } = makeStreams()

  const response = await call('GET', `${PATH}${parameters}`, undefined, JSON_ONLY)
  const { error, issues } = await response.json()

  expect([response.status, error]).toEqual([400, 'ValidationError'])
  expect(JSON.stringify(issues ?? [])).toContain(path)
  expect(read).toEqual([])
})

test.each([
  ['?wait=1s', {}],
  ['?limit=7', {}],
  ['', { 'Last-Event-ID': 'x' }],
  ['', { 'Last-Event-ID': '7' }],
])('events: %s with %o is rejected', async (parameters, headers) => {
  const { call, followed } = makeStreams()

  expect(await rejection(await call('GET', `${PATH}${parameters}`, undefined, headers))).toEqual([
    400,
    'ValidationError',
  ])
  expect(followed).toEqual([])
})

test.each([
  ['?format=html', {}],
  ['?startIndex=1', {}],
  ['?format=ui-message&startIndex=x', {}],
  ['?format=ui-message&wait=1s', JSON_ONLY],
])('UI messages: %s is rejected', async (parameters, headers) => {
  const { call, followed } = makeStreams()

  expect(await rejection(await call('GET', `${PATH}${parameters}`, undefined, headers))).toEqual([
    400,
    'ValidationError',
  ])
  expect(followed).toEqual([])
})

test('UI messages: the format wins over Accept, and has its own header and no ids', async () => {
  const { call, followed } = makeStreams([FIRST, DONE])

  const response = await call('GET', `${PATH}?format=ui-message&topic=chat`, undefined, JSON_ONLY)
  const text = await response.text()

  expect([response.headers.get('Content-Type'), response.headers.get('x-vercel-ai-ui-message-stream')]).toEqual([
    'text/event-stream',
    'v1',
  ])
  expect(text).toMatch(/data: \[DONE\]\n\n$/)
  expect(text).not.toMatch(/^(?:id|event):/m)
  expect(followed).toMatchObject([{ topics: ['chat'], from: 0 }])
})

test('UI messages: an error is a chunk, and is logged with its status', async () => {
  const { call, events } = makeStreams([FIRST, new ServiceError('WorkflowNotReadyError', 'poisoned')])

  const text = await (await call('GET', `${PATH}?format=ui-message`)).text()

  expect(text).toContain('{"type":"error","errorText":"poisoned"}')
  expect(events.at(-1)?.fields).toMatchObject({ error: 'WorkflowNotReadyError' })
})

test('a client that has received the last event gets 204', async () => {
  const { call, followed } = makeStreams([], {
    async followStream(command) {
      followed.push(command)
      return null
    },
  })

  const response = await call('GET', PATH, undefined, { 'Last-Event-ID': `3@${RUN_ID}/end` })

  expect([response.status, await response.text()]).toEqual([204, ''])
  expect(followed).toMatchObject([{ from: { next: 3, runId: RUN_ID, isEnd: true } }])
})

test.each([
  ['events', {}, 'text/event-stream'],
  ['JSON', JSON_ONLY, 'application/json'],
])('HEAD as %s only reads the status of the run', async (_, headers, type) => {
  const refs: unknown[] = []
  const { call, followed, read } = makeStreams([], {
    async status(ref) {
      refs.push(ref)
      return running
    },
  })

  const response = await call('HEAD', PATH, undefined, headers)

  expect([response.status, response.headers.get('Content-Type'), response.body]).toEqual([200, type, null])
  expect(refs).toEqual([{ workflowId: 'w' }])
  expect([followed, read]).toEqual([[], []])
})

test('events: each item has the id after which the stream continues', async () => {
  expect(await sent([FIRST, itemsEvent(itemsAt(0, 2), 2), itemsEvent(itemsAt(2, 1), 3), DONE])).toEqual([
    ['workflow', undefined, WORKFLOW],
    ['item', `0@${RUN_ID}`, { offset: 0, topic: 't', data: 'x' }],
    ['item', `1@${RUN_ID}`, { offset: 1, topic: 't', data: 'x' }],
    ['item', `2@${RUN_ID}`, { offset: 2, topic: 't', data: 'x' }],
    [
      'done',
      `3@${RUN_ID}/end`,
      {
        workflowId: 'w',
        runId: RUN_ID,
        status: 'completed',
        completedAt: '1970-01-01T00:00:00.000Z',
        next: 3,
        complete: true,
      },
    ],
  ])
})

test('events: a topic is never the name of an event', async () => {
  const item = { offset: 0, topic: 'error\ndata: 1', data: null }

  expect(await sent([FIRST, itemsEvent([item], 1)])).toEqual([
    ['workflow', undefined, WORKFLOW],
    ['item', `0@${RUN_ID}`, item],
  ])
})

test('events: what is lost, the next run and why the workflow cannot answer are events without an id, and the reader is moved past them', async () => {
  const problem = { failure: 'nope' } as never
  const continued = { workflowId: 'w', runId: NEXT_ID, continuedFrom: RUN_ID, reset: true } as const

  const events = await sent([
    FIRST,
    { type: 'obstacle', workflow: { ...WORKFLOW, problem }, error: new ServiceError('WorkflowNotReadyError', 'x') },
    { type: 'truncated', runId: RUN_ID, from: 0, to: 4 },
    { type: 'continued', continued, from: 0 },
    { type: 'live', runId: NEXT_ID, next: 0, head: async () => 0 },
  ])

  expect(events).toEqual([
    ['workflow', undefined, WORKFLOW],
    ['workflow', undefined, { ...WORKFLOW, problem }],
    ['truncated', undefined, { from: 0, to: 4 }],
    [undefined, `3@${RUN_ID}`, undefined],
    ['continued', undefined, continued],
    [undefined, `-@${NEXT_ID}`, undefined],
  ])
})

test('events: readers with the same array of items get the same bytes', async () => {
  const shared = itemsAt(0, 2)
  const read = async () => {
    const { body } = await makeStreams([itemsEvent(shared, 2)]).call('GET', PATH)
    let last: Uint8Array | undefined
    for await (const chunk of body?.values() ?? []) last = chunk
    return last
  }

  expect(await read()).toBe(await read())
})

test.each([
  ['is resumed', 'EngineUnavailableError', `1@${RUN_ID}`],
  ['is resumed', 'ResourceExhaustedError', `1@${RUN_ID}`],
  ['is resumed', 'DeadlineExceededError', `1@${RUN_ID}`],
  ['ends for good', 'StreamNotFoundError', `2@${RUN_ID}/end`],
  ['ends for good', 'WorkflowNotReadyError', `2@${RUN_ID}/end`],
  ['ends for good', 'NotSupportedError', `2@${RUN_ID}/end`],
] as const)('events: the stream %s after %s', async (_, error, id) => {
  const { call, events } = makeStreams([FIRST, itemsEvent(itemsAt(0, 2), 2), new ServiceError(error, 'no')])

  const last = sentIn(await (await call('GET', PATH)).text()).at(-1)

  expect(last).toEqual(['server_error', id, expect.objectContaining({ error, message: 'no' })])
  expect(events.at(-1)?.fields).toMatchObject({ route: '/workflow/:id/stream', error })
})

test('events: an error before the first item resumes at the beginning, or after what was skipped', async () => {
  const failed = new ServiceError('EngineUnavailableError', 'no')

  expect((await sent([FIRST, failed])).at(-1)?.[1]).toBe(`-@${RUN_ID}`)
  expect((await sent([FIRST, itemsEvent([], 5), failed])).at(-1)?.[1]).toBe(`4@${RUN_ID}`)
  expect((await sent([FIRST, { type: 'truncated', runId: RUN_ID, from: 0, to: 3 }, failed])).at(-1)?.[1]).toBe(
    `2@${RUN_ID}`,
  )
})

test('events: an error before the position is known has no id, because it could resume nowhere', async () => {
  const first: StreamEvent = { type: 'workflow', workflow: { ...WORKFLOW, from: 'now' } }

  expect((await sent([first, new ServiceError('EngineUnavailableError', 'no')])).at(-1)?.slice(0, 2)).toEqual([
    'server_error',
    undefined,
  ])
})

test('events: an error before the response has begun is an ordinary error response', async () => {
  const { call } = makeStreams([], {
    async followStream() {
      throw new ServiceError('StreamNotFoundError', 'none')
    },
  })

  expect(await rejection(await call('GET', PATH))).toEqual([404, 'StreamNotFoundError'])
})

test('events: a reader whose topics have no item is moved, once for each position', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const later = Promise.withResolvers<StreamEvent>()
  const { call } = makeStreams([FIRST, itemsEvent(itemsAt(0, 1), 1), itemsEvent([], 9), later.promise])
  const { body } = await call('GET', PATH)
  const reader = body?.getReader()
  const next = async () => new TextDecoder().decode((await reader?.read())?.value)
  // The time to reconnect after, the run, and the item.
  for (let frame = 0; frame < 3; frame++) await next()
  const received: string[] = []
  for (let comments = 0; comments < 2; comments++) {
    const chunk = next()
    // Frames that are ready come first.
    await new Promise((resolve) => setImmediate(resolve))
    vi.advanceTimersByTime(10_000)
    received.push(await chunk)
  }
  later.resolve(DONE)
  const done = await next()

  expect(received).toEqual([`id: 8@${RUN_ID}\n\n`, ': still running\n\n'])
  expect(done).toContain('event: done')
})

test('publish: an item, or several, for the latest run or the one in the path', async () => {
  const { call, published } = makeStreams()

  const { status, headers } = await call('POST', PATH, { topic: 't', data: { a: 1 } })
  await call('POST', PATH, { topic: 't', data: null })
  const items = [
    { topic: 'a', data: 1 },
    { topic: 'b', data: [] },
  ]
  await call('POST', PINNED, { items }, { 'Idempotency-Key': 'k' })

  expect([status, headers.get('Content-Type')]).toEqual([202, 'application/json'])
  expect(published).toEqual([
    { ref: { workflowId: 'w' }, items: [{ topic: 't', data: { a: 1 } }] },
    { ref: { workflowId: 'w' }, items: [{ topic: 't', data: null }] },
    { ref: { workflowId: 'w', runId: RUN_ID }, items, idempotencyKey: 'k' },
  ])
})

test.each([
  [{}],
  [{ data: 1 }],
  [{ topic: 't' }],
  [{ topic: '', data: 1 }],
  [{ topic: 1, data: 1 }],
  [{ topic: 't', data: 1, offset: 3 }],
  [{ items: [] }],
  [{ items: [{ data: 1 }] }],
  [{ items: [{ topic: 't', data: 1 }], topic: 't' }],
  [{ items: Array.from({ length: 1001 }, () => ({ topic: 't', data: 1 })) }],
  [[{ topic: 't', data: 1 }]],
])('publish: a body that is not valid is rejected, and nothing is published (%#)', async (body) => {
  const { call, published } = makeStreams()

  expect(await rejection(await call('POST', PATH, body))).toEqual([400, 'ValidationError'])
  expect(published).toEqual([])
})
