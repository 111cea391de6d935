import { expect, test } from 'vitest'
import { decideRetry, type FailedAttempt } from '../../../../src/service/engine/retry.ts'
import { RpcError } from '../../../../src/service/engine/transport/transport.ts'
import { GrpcCode } from '../../../../src/shared/temporal/grpc-code.ts'
import { LOST, UNSENT } from './rpc-errors.ts'

const REJECTED = new RpcError('no', { code: GrpcCode.NOT_FOUND })

function decide(attempt: Partial<FailedAttempt>) {
  return decideRetry({
    error: LOST,
    retries: 0,
    mayHaveArrived: false,
    stopWhenSent: false,
    remainingMs: 5000,
    ...attempt,
  })
}

test.for<[string, Partial<FailedAttempt>, object]>([
  ['the first retry waits 100 ms', {}, { retry: true, delayMs: 100, mayHaveArrived: true }],
  ['the fourth retry waits 1 s', { retries: 3 }, { retry: true, delayMs: 1000, mayHaveArrived: true }],
  ['there is no fifth retry', { retries: 4 }, { retry: false, error: LOST }],
  ['an unsent request has not arrived', { error: UNSENT }, { retry: true, delayMs: 100, mayHaveArrived: false }],
  [
    'an earlier attempt may have arrived',
    { error: UNSENT, mayHaveArrived: true },
    { retry: true, delayMs: 100, mayHaveArrived: true },
  ],
  ['there is no retry after the deadline', { remainingMs: 100 }, { retry: false, error: LOST }],
  ['an error that is not retryable is final', { error: REJECTED }, { retry: false, error: REJECTED }],
  ['a request that may have been sent stops', { stopWhenSent: true }, { retry: false, error: LOST }],
  [
    'an unsent request does not stop',
    { stopWhenSent: true, error: UNSENT },
    { retry: true, delayMs: 100, mayHaveArrived: false },
  ],
])('decideRetry: %s', ([, attempt, decision]) => {
  expect(decide(attempt)).toEqual(decision)
})

test('decideRetry: the final error says whether an earlier attempt may have arrived', () => {
  const marked = { mayHaveBeenSent: true, mayHaveTakenEffect: true }

  expect(decide({ error: REJECTED, mayHaveArrived: true })).toMatchObject({
    retry: false,
    error: { code: GrpcCode.NOT_FOUND, message: 'no', cause: REJECTED, ...marked },
  })
  expect(decide({ error: UNSENT, retries: 4, mayHaveArrived: true })).toMatchObject({ error: marked })
  expect(decide({ error: REJECTED })).toMatchObject({ error: { mayHaveTakenEffect: false } })
})
