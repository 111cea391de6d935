import { expect, test, vi } from 'vitest'
import { ServiceError } from '../../../../src/service/model/errors.ts'
import type { FollowStreamCommand } from '../../../../src/service/model/stream.ts'
import { followStream } from '../../../../src/service/streams/follow-stream.ts'
import { aCall, rejection } from '../../call.ts'
import { allOf, endAt, items, pageOf, RUN_1, RUN_2, scriptedStream } from './stream-fixture.ts'

const COMMAND: FollowStreamCommand = { ref: { workflowId: 'w' }, from: 0, topics: [], followsChain: true }
const NO_STREAM = new ServiceError('StreamNotFoundError', 'no stream')

test('returns the events from the first one on, although it has read two', async () => {
  const { ports } = scriptedStream({ pages: { [RUN_1]: [pageOf(items(0, 1)), pageOf(items(1, 1)), endAt(2)] } })

  const feed = await followStream(ports, COMMAND, aCall())

  const events = feed === null ? [] : await allOf(feed.events)
  expect(events.map(({ type }) => type)).toEqual(['workflow', 'items', 'items', 'done'])
})

test('begins with the run of the position, after its item', async () => {
  const { ports, calls } = scriptedStream({ pages: { [RUN_2]: [endAt(8)] } })

  await followStream(ports, { ...COMMAND, from: { runId: RUN_2, last: 7 } }, aCall())

  expect(calls.slice(0, 2)).toEqual([`describe ${RUN_2}`, `open ${RUN_2} 8`])
})

test('a position of another run than the one in the path is rejected before any call (threat 42)', async () => {
  const { ports, calls } = scriptedStream()
  const from = { runId: RUN_2, last: 7 }

  const error = await rejection(
    followStream(ports, { ...COMMAND, ref: { workflowId: 'w', runId: RUN_1 }, from }, aCall()),
  )

  expect(error).toMatchObject({ error: 'ValidationError', workflowId: 'w', runId: RUN_1 })
  expect(calls).toEqual([])
})

test('after the last event there is nothing, which is decided only when the run is known to exist', async () => {
  const from = { runId: RUN_2, last: 'end' } as const
  const { ports, calls } = scriptedStream()
  const missing = scriptedStream({
    engine: {
      async describe() {
        throw new ServiceError('WorkflowNotFoundError', 'gone')
      },
    },
  })

  expect(await followStream(ports, { ...COMMAND, from }, aCall())).toBeNull()
  expect(calls).toEqual([`describe ${RUN_2}`])
  expect(await rejection(followStream(missing.ports, { ...COMMAND, from }, aCall()))).toMatchObject({
    error: 'WorkflowNotFoundError',
  })
})

test('a workflow without a stream rejects if that is known soon', async () => {
  const { ports, calls } = scriptedStream({ pages: { [RUN_1]: [NO_STREAM] } })

  expect(await rejection(followStream(ports, COMMAND, aCall()))).toMatchObject({ error: 'StreamNotFoundError' })
  expect(calls.at(-1)).toBe(`close ${RUN_1}`)
})

test('after 2 s the events begin, and an error is one of them', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const answer = Promise.withResolvers<never>()
  const { ports } = scriptedStream({
    engine: {
      openStream: async () => ({ next: () => answer.promise, close() {} }),
    },
  })
  const following = followStream(ports, COMMAND, aCall())
  await vi.advanceTimersByTimeAsync(1999)
  const early = await Promise.race([following, 'pending'])
  await vi.advanceTimersByTimeAsync(1)
  const feed = await following
  vi.useRealTimers()
  answer.reject(NO_STREAM)

  expect(early).toBe('pending')
  await expect(feed && allOf(feed.events)).rejects.toThrow('no stream')
})
