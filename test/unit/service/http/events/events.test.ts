import { Hono } from 'hono'
import { afterEach, expect, test, vi } from 'vitest'
import type { Env } from '../../../../../src/service/http/context.ts'
import {
  dataFrame,
  type EventStreamOptions,
  eventFrame,
  eventStream,
} from '../../../../../src/service/http/events/events.ts'

const RETRY = /^retry: (\d+)\n\n$/

afterEach(() => void vi.useRealTimers())

/** A client that reads a response of these frames, chunk by chunk. */
async function open(frames: AsyncIterable<string | Uint8Array>, options: Partial<EventStreamOptions> = {}) {
  const seen = { aborted: false, sent: false }
  const app = new Hono<Env>()
  app.get('/', (c) => {
    c.set('headers', { 'X-Request-Id': 'r' })
    c.set('abort', () => {
      seen.aborted = true
    })
    const response = eventStream(c, frames, { commentEveryMs: 10_000, ...options })
    void c.get('sent')?.then(() => {
      seen.sent = true
    })
    return response
  })
  const response = await app.request('/')
  const reader = response.body?.getReader()
  if (reader === undefined) throw new Error('the response has no body')
  const next = async () => new TextDecoder().decode((await reader.read()).value)
  return { response, reader, next, seen }
}

/** Frames that a test sends, and how the reader leaves. */
function scripted() {
  const waiting: ((result: IteratorResult<string>) => void)[] = []
  const requested = { count: 0, returned: false }
  const frames: AsyncIterable<string> = {
    [Symbol.asyncIterator]: () => ({
      next() {
        requested.count++
        return new Promise((resolve) => waiting.push(resolve))
      },
      async return() {
        requested.returned = true
        return { value: undefined, done: true }
      },
    }),
  }
  const send = (value: string) => waiting.shift()?.({ value, done: false })
  return { frames, requested, send }
}

async function* frames(...list: (string | Uint8Array | Error)[]): AsyncGenerator<string | Uint8Array> {
  for (const frame of list) {
    if (frame instanceof Error) throw frame
    yield frame
  }
}

/** Everything that is ready to run has run. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}

test('a frame has its data as one line of JSON, and an id only if there is one', () => {
  expect(eventFrame('item', { text: 'a\nb' })).toBe('event: item\ndata: {"text":"a\\nb"}\n\n')
  expect(eventFrame('item', null, '7')).toBe('id: 7\nevent: item\ndata: null\n\n')
})

test('a frame contains none of the characters at which programs split lines: they are escaped', () => {
  const text = 'one\u2028two\u2029three\u0085four'

  const frames = [eventFrame('item', { [text]: text }), dataFrame(text)]

  for (const frame of frames) expect(frame).not.toMatch(/[\u0085\u2028\u2029]/)
  expect(JSON.parse(frames[0]?.split('\ndata: ')[1] ?? '')).toEqual({ [text]: text })
})

test('clients do not reconnect at the same moment', async () => {
  const opened = await Promise.all(Array.from({ length: 20 }, () => open(frames())))
  const times = await Promise.all(opened.map(async ({ next }) => Number((await next()).match(RETRY)?.[1])))

  expect(Math.min(...times)).toBeGreaterThanOrEqual(1000)
  expect(Math.max(...times)).toBeLessThanOrEqual(4000)
  expect(new Set(times).size).toBeGreaterThan(10)
})

test('the response begins with the time to reconnect after, and has all frames, as text or bytes', async () => {
  const { response, next, reader, seen } = await open(frames('one', new TextEncoder().encode('two')))

  expect([await next(), await next(), await next()]).toEqual([expect.stringMatching(RETRY), 'one', 'two'])
  expect(await reader.read()).toEqual({ value: undefined, done: true })
  expect(seen).toEqual({ aborted: false, sent: true })
  expect([response.status, Object.fromEntries(response.headers)]).toEqual([
    200,
    {
      'cache-control': 'no-store, no-transform',
      'content-type': 'text/event-stream',
      'x-accel-buffering': 'no',
      'x-request-id': 'r',
    },
  ])
})

test('a frame is requested only when the client has taken the previous one (threat 54)', async () => {
  const { frames, requested, send } = scripted()
  const { next } = await open(frames)
  await turns()
  const before = requested.count
  await next()
  await turns()
  const first = requested.count
  send('one')
  await turns()
  const unread = requested.count
  const one = await next()
  await turns()

  expect([before, first, unread, one, requested.count]).toEqual([0, 1, 1, 'one', 2])
})

test('a comment is sent at intervals, but only a few to a client that does not read (threat 54)', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const { frames } = scripted()
  const { next } = await open(frames)
  const first = await next()
  vi.advanceTimersByTime(9999)
  const second = next()
  const early = await Promise.race([second, turns().then(() => 'pending')])
  vi.advanceTimersByTime(1)
  const comment = await second
  vi.advanceTimersByTime(500_000)
  const unread: string[] = []
  for (let chunk = await next(); chunk !== 'end'; ) {
    unread.push(chunk)
    chunk = await Promise.race([next(), turns().then(() => 'end')])
  }

  expect([first, early, comment]).toEqual([expect.stringMatching(RETRY), 'pending', ': still running\n\n'])
  expect(new Set(unread)).toEqual(new Set([': still running\n\n']))
  expect(unread).toHaveLength(11)
})

test('what is sent at intervals can be more than a comment, and is made when it is sent', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  let made = 0
  const { next } = await open(scripted().frames, { commentEveryMs: 1500, comment: () => `id: ${++made}\n\n` })
  await next()
  vi.advanceTimersByTime(1500)

  expect([await next(), made]).toEqual(['id: 1\n\n', 1])
})

test('a client that leaves aborts the request and ends the frames, and no timer is left', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const { frames, requested, send } = scripted()
  const { next, reader, seen } = await open(frames)
  await next()

  await reader.cancel()
  send('too late')
  await turns()

  expect(seen).toEqual({ aborted: true, sent: true })
  expect(requested.returned).toBe(true)
  expect(vi.getTimerCount()).toBe(0)
})

test('a bug in the frames breaks the response off, and no timer is left', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const { next, seen } = await open(frames('one', new Error('a bug')))
  const received = [await next(), await next()]

  await expect(next()).rejects.toThrow('a bug')
  expect(received).toEqual([expect.stringMatching(RETRY), 'one'])
  expect(seen).toEqual({ aborted: false, sent: true })
  expect(vi.getTimerCount()).toBe(0)
})
