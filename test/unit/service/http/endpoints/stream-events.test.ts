/** The events of a stream as they are sent: their ids, and those of errors. */
import { afterEach, expect, test, vi } from 'vitest'
import { ServiceError } from '../../../../../src/service/model/errors.ts'
import type { FeedEvent, StreamItem } from '../../../../../src/service/model/stream.ts'
import { rejecting, rejection } from '../api.ts'
import { DONE, FIRST, makeStreams, PATH, RUN_ID, WORKFLOW } from './stream-api.ts'

afterEach(() => void vi.useRealTimers())

function itemsAt(from: number, count: number): StreamItem[] {
  return Array.from({ length: count }, (_, at) => ({ offset: from + at, topic: 't', data: 'x' }))
}

function itemsEvent(items: StreamItem[], next: number): FeedEvent {
  return { type: 'items', runId: RUN_ID, items, next }
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

async function sent(events: (FeedEvent | Error)[]): Promise<unknown[][]> {
  return sentIn(await (await makeStreams(events).call('GET', PATH)).text())
}

test('events: a topic is never the name of an event', async () => {
  const item = { offset: 0, topic: 'error\ndata: 1', data: null }

  expect(await sent([FIRST, itemsEvent([item], 1)])).toEqual([
    ['workflow', undefined, WORKFLOW],
    ['item', `${RUN_ID}@0`, item],
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
  ['is resumed', 'EngineUnavailableError', `${RUN_ID}@1`],
  ['is resumed', 'ResourceExhaustedError', `${RUN_ID}@1`],
  ['is resumed', 'DeadlineExceededError', `${RUN_ID}@1`],
  ['ends for good', 'StreamNotFoundError', `${RUN_ID}@end`],
  ['ends for good', 'WorkflowNotReadyError', `${RUN_ID}@end`],
  ['ends for good', 'NotSupportedError', `${RUN_ID}@end`],
] as const)('events: the stream %s after %s', async (_, error, id) => {
  const { call, events } = makeStreams([FIRST, itemsEvent(itemsAt(0, 2), 2), new ServiceError(error, 'no')])

  const last = sentIn(await (await call('GET', PATH)).text()).at(-1)

  expect(last).toEqual(['server_error', id, expect.objectContaining({ error, message: 'no' })])
  expect(events.at(-1)?.fields).toMatchObject({ route: '/workflow/:id/stream', error })
})

test('events: an error before the first item resumes at the beginning, or after what was skipped', async () => {
  const failed = new ServiceError('EngineUnavailableError', 'no')

  expect((await sent([FIRST, failed])).at(-1)?.[1]).toBe(RUN_ID)
  expect((await sent([FIRST, itemsEvent([], 5), failed])).at(-1)?.[1]).toBe(`${RUN_ID}@4`)
  expect((await sent([FIRST, { type: 'truncated', runId: RUN_ID, from: 0, to: 3 }, failed])).at(-1)?.[1]).toBe(
    `${RUN_ID}@2`,
  )
})

test('events: an error before the position is known has no id, because it could resume nowhere', async () => {
  const first: FeedEvent = { type: 'workflow', workflow: { ...WORKFLOW, from: 'now' } }

  expect((await sent([first, new ServiceError('EngineUnavailableError', 'no')])).at(-1)?.slice(0, 2)).toEqual([
    'server_error',
    undefined,
  ])
})

test('events: an error before the response has begun is an ordinary error response', async () => {
  const { call } = makeStreams([], { followStream: rejecting('StreamNotFoundError') })

  expect(await rejection(await call('GET', PATH))).toEqual([404, 'StreamNotFoundError'])
})

test('events: a reader whose topics have no item is moved, once for each position', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const later = Promise.withResolvers<FeedEvent>()
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

  expect(received).toEqual([`id: ${RUN_ID}@8\n\n`, ': still running\n\n'])
  expect(done).toContain('event: done')
})
