import { expect, test } from 'vitest'
import { tailOf, uiMessageFrames } from '../../../../../src/service/fronts/chat/ui-messages.ts'
import { ServiceError } from '../../../../../src/service/model/errors.ts'
import type { FeedEvent } from '../../../../../src/service/model/stream.ts'
import { toBase64 } from '../../../../../src/shared/lib/base64.ts'
import type { Status } from '../../../../../src/shared/wire/execution.ts'
import { aCall } from '../../../call.ts'

const RUN = { workflowId: 'chat-1', runId: '01a208f4-a730-742e-81e9-92b88320ed51' }

const MESSAGE = [
  { type: 'start', messageId: 'm1' },
  { type: 'start-step' },
  { type: 'text-start', id: '1' },
  { type: 'text-delta', id: '1', delta: 'Hel' },
  { type: 'text-delta', id: '1', delta: 'lo' },
  { type: 'text-end', id: '1' },
  { type: 'finish-step' },
  { type: 'finish' },
]

const FINISH = { type: 'finish' }

test('UI messages: each chunk is sent as data alone, and [DONE] at the end of the run', async () => {
  const body = await bodyOf([begin(), items(MESSAGE), done()])

  expect(body).toBe(`${MESSAGE.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`)
})

test('UI messages: bytes that hold JSON are decoded', async () => {
  const bytes = toBase64(new TextEncoder().encode('{"type":"text-start","id":"ü"}'))
  const item = { encoding: 'binary/plain', data: bytes }

  expect(await chunksOf([items([item]), done()])).toEqual([{ type: 'text-start', id: 'ü' }, FINISH])
})

test('UI messages: a number in such bytes that JSON does not have is a string', async () => {
  const bytes = toBase64(new TextEncoder().encode('{"type":"data-score","data":{"score":NaN}}'))

  expect(await chunksOf([items([{ encoding: 'binary/plain', data: bytes }]), done()])).toEqual([
    { type: 'data-score', data: { score: 'NaN' } },
    FINISH,
  ])
})

test('UI messages: parts of a provider are converted, and its text is sent unchanged', async () => {
  const parts = [
    { type: 'stream-start', warnings: [] },
    { type: 'text-start', id: '1' },
    { type: 'text-delta', id: '1', delta: 'Hi' },
    { type: 'text-end', id: '1' },
    { type: 'finish', usage: {}, finishReason: { unified: 'stop' } },
  ]

  const types = (await chunksOf([items(parts), done()])).map(({ type }) => type)

  expect(types).toEqual(['start', 'start-step', 'text-start', 'text-delta', 'text-end', 'finish-step', 'finish'])
})

test.for([
  'a text',
  null,
  [MESSAGE[0]],
  { text: 'no type' },
  { type: 'toString' },
  { type: 'text-delta', id: '1' },
  { type: 'text-delta', id: 'never begun', delta: 'a' },
  { encoding: 'binary/plain', data: '!' },
  { encoding: 'binary/plain', data: 'AAAA' },
  { encoding: 'binary/protobuf', data: 'e30=' },
  { type: 'tool-input-start', id: 'no name' },
  { type: 'tool-call', toolName: 'no id' },
])('UI messages: an item for which ai would throw is dropped: %j (threat 84)', async (item) => {
  expect(await chunksOf([items([item]), done()])).toEqual([FINISH])
})

test.for<[Status, string]>([
  ['failed', 'Workflow chat-1 failed'],
  ['canceled', 'Workflow chat-1 was canceled'],
  ['terminated', 'Workflow chat-1 was terminated'],
  ['timed_out', 'Workflow chat-1 timed out'],
])('UI messages: the end of a run that %s is an error', async ([status, errorText]) => {
  expect((await chunksOf([items(MESSAGE.slice(0, 2)), done(status)])).slice(2)).toEqual([
    { type: 'error', errorText },
    { type: 'finish', finishReason: 'error' },
  ])
})

test('UI messages: the end of one run of a chain is not an error', async () => {
  expect(await chunksOf([items(MESSAGE), done('continued')])).toEqual(MESSAGE)
})

test('UI messages: an error of the stream is the last chunk, with the text that a client may see', async () => {
  const seen: unknown[] = []
  const error = new ServiceError('EngineUnavailableError', 'The engine is not available')
  const toErrorText = (thrown: unknown) => {
    seen.push(thrown)
    return 'for the client'
  }

  const body = await textOf(uiMessageFrames(failing([begin(), items(MESSAGE)], error), { startIndex: 0, toErrorText }))

  expect(seen).toEqual([error])
  expect(body).toMatch(/\ndata: {"type":"error","errorText":"for the client"}\n\n.*\n\ndata: \[DONE\]\n\n$/)
})

test('UI messages: the body of a call that was aborted breaks, without [DONE]', async () => {
  const sent: string[] = []

  const reading = (async () => {
    const frames = uiMessageFrames(each([begin(), items(MESSAGE)]), { startIndex: 0, toErrorText: String })
    for await (const frame of frames) sent.push(frame)
  })()

  await expect(reading).rejects.toThrow('The events ended before the run')
  expect(sent.join('')).not.toContain('[DONE]')
})

test('UI messages: startIndex leaves out chunks, however they are divided into events', async () => {
  const divided = MESSAGE.map((chunk) => items([chunk, { type: 'unknown' }]))

  for (let startIndex = 0; startIndex <= MESSAGE.length; startIndex++) {
    const rest = MESSAGE.slice(startIndex)
    const expected = rest.length === 0 ? [FINISH] : rest
    expect(await chunksOf([begin(), items(MESSAGE), done()], startIndex)).toEqual(expected)
    expect(await chunksOf([begin(), ...divided, done()], startIndex)).toEqual(expected)
  }
})

test('UI messages: the response of a closed run is never without a chunk', async () => {
  expect(await chunksOf([begin(), items(MESSAGE), done()], 100)).toEqual([FINISH])
  expect(await chunksOf([begin(), done()])).toEqual([FINISH])
})

test('UI messages: items that the workflow dropped before the first one do not spoil the message', async () => {
  const chunks = await chunksOf([begin(), items([]), truncated(0, 5), items(MESSAGE), done()])

  expect(chunks).toEqual([{ type: 'data-truncated', data: { from: 0, to: 5 }, transient: true }, ...MESSAGE])
})

test('UI messages: a gap within the stream is an error', async () => {
  const chunks = await chunksOf([items(MESSAGE.slice(0, 4)), truncated(4, 6), done()])

  expect(chunks.slice(4)).toEqual([{ type: 'error', errorText: 'Items 4 to 5 of the stream are lost' }, FINISH])
})

test.for([
  { count: 1, startIndex: 7, tailIndex: 7 },
  { count: 2, startIndex: 6, tailIndex: 7 },
  // In the text, which begins at 2.
  { count: 3, startIndex: 2, tailIndex: 4 },
  { count: 5, startIndex: 2, tailIndex: 6 },
  { count: 6, startIndex: 2, tailIndex: 7 },
  { count: 8, startIndex: 0, tailIndex: 7 },
  { count: 20, startIndex: 0, tailIndex: 7 },
])('UI messages: the last $count chunks begin at $startIndex', async ({ count, startIndex, tailIndex }) => {
  const tail = await tailOf(each([items(MESSAGE.slice(0, 3)), items(MESSAGE.slice(3))]), count, aCall())

  expect(tail).toEqual({ startIndex, tailIndex })
  // What `WorkflowChatTransport` calculates.
  expect(Math.max(0, tailIndex + 1 - count)).toBe(startIndex)
})

test('UI messages: the tail of an empty stream begins at 0', async () => {
  expect(await tailOf(each([]), 10, aCall())).toEqual({ startIndex: 0, tailIndex: -1 })
})

const NO_WORKER = new ServiceError('DeadlineExceededError', 'No worker')

test.for<[string, number, FeedEvent[]]>([
  ['all items were read', 1, [live(2, Promise.resolve(2))]],
  ['the items that the workflow has besides were read', 2, [live(2, Promise.resolve(3)), items([MESSAGE[6]], 3)]],
  ['the workflow does not respond', 1, [live(2, Promise.reject(NO_WORKER))]],
  [
    'the workflow cannot respond',
    1,
    [{ type: 'obstacle', workflow: { ...RUN, status: 'running', from: 0 }, error: NO_WORKER }],
  ],
])('UI messages: the tail ends where %s', async ([, startIndex, last]) => {
  let isLeft = false
  async function* open(): AsyncGenerator<FeedEvent> {
    try {
      yield* [begin(), items(MESSAGE.slice(0, 2)), ...last]
      yield expect.fail('was read too far')
    } finally {
      isLeft = true
    }
  }

  expect(await tailOf(open(), 1, aCall())).toEqual({ startIndex, tailIndex: startIndex })
  expect(isLeft).toBe(true)
})

function begin(): FeedEvent {
  return { type: 'workflow', workflow: { ...RUN, status: 'running', from: 0 } }
}

function items(data: readonly unknown[], next = data.length): FeedEvent {
  const published = data.map((value, offset) => ({ offset, topic: 'chat', data: value }))
  return { type: 'items', runId: RUN.runId, items: published, next }
}

function live(next: number, head: Promise<number>): FeedEvent {
  // It is awaited later.
  head.catch(() => undefined)
  return { type: 'live', runId: RUN.runId, next, head: () => head }
}

function truncated(from: number, to: number): FeedEvent {
  return { type: 'truncated', runId: RUN.runId, from, to }
}

function done(status: Status = 'completed'): FeedEvent {
  return { type: 'done', done: { ...RUN, status, completedAt: null, next: 0, complete: true } }
}

async function* each(events: FeedEvent[]): AsyncGenerator<FeedEvent> {
  yield* events
}

async function* failing(events: FeedEvent[], error: Error): AsyncGenerator<FeedEvent> {
  yield* events
  throw error
}

async function textOf(frames: AsyncIterable<string>): Promise<string> {
  let text = ''
  for await (const frame of frames) text += frame
  return text
}

function bodyOf(events: FeedEvent[], startIndex = 0): Promise<string> {
  return textOf(uiMessageFrames(each(events), { startIndex, toErrorText: String }))
}

async function chunksOf(events: FeedEvent[], startIndex = 0): Promise<{ type: string }[]> {
  const frames = (await bodyOf(events, startIndex)).split('\n\n')
  expect(frames.slice(-2)).toEqual(['data: [DONE]', ''])
  return frames.slice(0, -2).map((frame) => JSON.parse(frame.slice('data: '.length)))
}
