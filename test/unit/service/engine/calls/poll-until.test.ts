import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Polled, pollUntil } from '../../../../../src/service/engine/calls/poll-until.ts'
import { RpcError } from '../../../../../src/service/engine/transport/transport.ts'
import { createPollSlots } from '../../../../../src/service/engine/waits/poll-slots.ts'
import { GrpcCode } from '../../../../../src/shared/temporal/grpc-code.ts'
import { aCall } from '../../../call.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const LIMITED = new RpcError('namespace concurrent poller limit exceeded', { code: GrpcCode.RESOURCE_EXHAUSTED })

/** A wait for a minute. Polls are held until a test ends them; reads find `state.found`. */
function waiting(maxPolls: number) {
  const polls = createPollSlots(maxPolls)
  const held: PromiseWithResolvers<Polled<string>>[] = []
  const state: { found: string | null; reads: number } = { found: null, reads: 0 }
  const attempts = {
    poll() {
      const poll = Promise.withResolvers<Polled<string>>()
      held.push(poll)
      return poll.promise
    },
    async read() {
      state.reads++
      return { found: state.found }
    },
  }
  const wait = () => pollUntil({ polls }, aCall({ deadlineAt: Date.now() + 60_000 }), attempts)
  return { polls, held, state, wait }
}

test('pollUntil: a wait without a free slot reads at intervals, and finds what others wait for within 5 s', async () => {
  const { held, state, wait } = waiting(1)
  void wait()
  const second = wait()
  await vi.advanceTimersByTimeAsync(10_000)
  const reads = state.reads

  state.found = 'it'
  await vi.advanceTimersByTimeAsync(5000)

  expect([held.length, reads, await second]).toEqual([1, 5, 'it'])
})

test('pollUntil: the slot of a poll that has ended is free for the next wait', async () => {
  const { polls, held, wait } = waiting(1)
  const first = wait()
  const second = wait()

  held[0]?.resolve({ found: 'it' })
  await vi.advanceTimersByTimeAsync(2500)
  const after = [held.length, polls.hasFree(null)]
  held[1]?.resolve({ found: 'that' })

  expect([await first, after, await second, polls.hasFree(null)]).toEqual(['it', [2, false], 'that', true])
})

test('pollUntil: a poll that the engine rejects lowers the limit of all, and is replaced by reads', async () => {
  const { polls, held, state, wait } = waiting(1)
  const rejected = wait()

  held[0]?.reject(LIMITED)
  await vi.advanceTimersByTimeAsync(5000)
  const after = [held.length, polls.hasFree(null), state.reads > 1]
  state.found = 'it'
  await vi.advanceTimersByTimeAsync(5000)

  expect([after, await rejected]).toEqual([[1, false, true], 'it'])
})

test('pollUntil: an error that does not end by itself ends the wait, without a slot too, and frees its slot', async () => {
  const { polls, held, wait } = waiting(1)
  const polled = wait()
  const read = pollUntil({ polls }, aCall(), {
    poll: () => Promise.reject(new Error('not expected')),
    read: () => Promise.reject(new Error('a bug')),
  })
  const outcomes = Promise.allSettled([polled, read])

  held[0]?.reject(new Error('another bug'))

  expect((await outcomes).map((outcome) => outcome.status)).toEqual(['rejected', 'rejected'])
  expect(polls.hasFree(null)).toBe(true)
})

test('pollUntil: a request that waits says so once, and ends at its deadline', async () => {
  const startWaiting = vi.fn()
  const { held, polls } = waiting(1)
  const call = aCall({ deadlineAt: Date.now() + 20_000, startWaiting })
  const ended = pollUntil({ polls }, call, {
    poll: async () => ({ found: null, isRepeated: true }),
    read: async () => ({ found: null }),
  })

  await vi.advanceTimersByTimeAsync(21_000)

  expect([await ended, startWaiting.mock.calls.length, held.length]).toEqual([null, 1, 0])
})

test('pollUntil: a read after a failed poll ends the wait if it fails with an error that waiting cannot end', async () => {
  const { polls, held } = waiting(1)
  const missing = new RpcError('workflow not found', { code: GrpcCode.NOT_FOUND })
  const call = aCall({ deadlineAt: Date.now() + 60_000 })
  const wait = pollUntil({ polls }, call, {
    poll() {
      const poll = Promise.withResolvers<Polled<string>>()
      held.push(poll)
      return poll.promise
    },
    read: () => Promise.reject(missing),
  })
  const outcome = Promise.allSettled([wait])

  held[0]?.reject(LIMITED)

  expect(await outcome).toEqual([{ status: 'rejected', reason: missing }])
  expect([held.length, polls.hasFree(null), call.notes]).toEqual([1, false, { waitInterrupted: LIMITED }])
})
