import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import {
  classifyPollFailure,
  createPollSlots,
  type Polled,
  pauseBetweenPollsMs,
  pollHolder,
  pollUntil,
} from '../../../../src/service/engine/polls.ts'
import { RpcError } from '../../../../src/service/engine/transport/transport.ts'
import { ServiceError } from '../../../../src/service/model/errors.ts'
import { GrpcCode } from '../../../../src/shared/temporal/grpc-code.ts'
import { aCall } from '../../call.ts'
import { answer, detail } from './rpc-errors.ts'

/** Takes as many slots as the holder gets, and returns the functions that free them. */
function takeAll({ take }: ReturnType<typeof createPollSlots>, holder: string | null): (() => void)[] {
  const frees: (() => void)[] = []
  for (let free = take(holder); free !== null; free = take(holder)) frees.push(free)
  return frees
}

test('poll slots: a caller gets at most half of them, and leaves room for others (threat 29)', () => {
  const slots = createPollSlots(1000)

  const taken = ['ada', 'bob', 'cy'].map((holder) => takeAll(slots, holder).length)
  const rest = takeAll(slots, null).length

  expect(taken).toEqual([500, 250, 125])
  expect(rest).toBe(125)
})

test('poll slots: a caller that gives slots back gets others', () => {
  const slots = createPollSlots(4)
  const [first] = takeAll(slots, 'ada')
  const before = slots.hasFree('ada')
  first?.()
  first?.()

  expect([before, slots.hasFree('ada'), takeAll(slots, 'ada').length]).toEqual([false, true, 1])
})

test('poll slots: with one slot, any caller gets it', () => {
  const slots = createPollSlots(1)

  expect([takeAll(slots, 'ada').length, slots.hasFree('bob'), slots.hasFree(null)]).toEqual([1, false, false])
})

test('pollHolder: callers with rules have a share, an access token that of its creator, operators none', () => {
  const caller = { kind: 'granted' as const, id: 'token:web', grants: [], limits: null }
  const holders = [
    aCall(),
    aCall({ caller: { kind: 'operator', id: 'operator', limits: null } }),
    aCall({ caller }),
    aCall({ caller: { ...caller, delegatedBy: 'jwt:main:ada' } }),
  ].map(pollHolder)

  expect(holders).toEqual([null, null, 'token:web', 'jwt:main:ada'])
})

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

test.for<[sentence: string, error: RpcError, failure: string]>([
  ['UNAVAILABLE', answer(GrpcCode.UNAVAILABLE), 'unreachable'],
  ['UNKNOWN', answer(GrpcCode.UNKNOWN), 'unreachable'],
  ['RESOURCE_EXHAUSTED', answer(GrpcCode.RESOURCE_EXHAUSTED), 'limited'],
  ['DEADLINE_EXCEEDED', answer(GrpcCode.DEADLINE_EXCEEDED), 'unanswered'],
  ['CANCELLED', answer(GrpcCode.CANCELLED), 'unanswered'],
  ['NOT_FOUND', answer(GrpcCode.NOT_FOUND), 'final'],
  ['PERMISSION_DENIED', answer(GrpcCode.PERMISSION_DENIED), 'final'],
  ['UNAUTHENTICATED', answer(GrpcCode.UNAUTHENTICATED), 'final'],
  ['INVALID_ARGUMENT', answer(GrpcCode.INVALID_ARGUMENT), 'final'],
  [
    'an unknown namespace is not final, because the engine may be starting',
    answer(GrpcCode.NOT_FOUND, 'no', detail('NamespaceNotFoundFailure')),
    'unregistered',
  ],
  [
    'a limit of one run does not limit the polls of others',
    answer(GrpcCode.RESOURCE_EXHAUSTED, 'limit on number of concurrent in-flight updates has been reached (10)'),
    'unanswered',
  ],
  [
    'a request that is too large for the engine is final',
    answer(GrpcCode.RESOURCE_EXHAUSTED, 'grpc: received message larger than max'),
    'final',
  ],
])('classifyPollFailure: %s', ([, error, failure]) => {
  expect(classifyPollFailure(error)).toBe(failure)
})

test('classifyPollFailure: an outcome that cannot be read now is unreadable', () => {
  const names = ['PayloadCodecError', 'EngineUnavailableError', 'ResourceExhaustedError'] as const

  expect(names.map((name) => classifyPollFailure(new ServiceError(name, 'no')))).toEqual(names.map(() => 'unreadable'))
})

test('classifyPollFailure: any other error is final', () => {
  const errors = [new ServiceError('WorkflowNotFoundError', 'no'), new TypeError('a bug'), undefined]

  expect(errors.map(classifyPollFailure)).toEqual(errors.map(() => 'final'))
})

test('pauseBetweenPollsMs: grows with each failure up to 5 s', () => {
  expect([0, 1, 2, 5, 6, 100].map(pauseBetweenPollsMs)).toEqual([1000, 1000, 2000, 5000, 5000, 5000])
})
