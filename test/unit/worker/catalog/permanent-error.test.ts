import { expect, test } from 'vitest'
import { isPermanentError } from '../../../../src/worker/catalog/next-step.ts'

test('isPermanentError: INVALID_ARGUMENT, PERMISSION_DENIED and UNAUTHENTICATED are permanent', () => {
  expect([3, 7, 16].map((code) => isPermanentError(grpcError(code)))).toEqual([true, true, true])
})

test('isPermanentError: an engine that is unavailable, slow, at its limit or without the namespace is transient', () => {
  const verdicts = [14, 4, 8, 5, 1, 13].map((code) => isPermanentError(grpcError(code)))
  expect(verdicts).toEqual([false, false, false, false, false, false])
})

test('isPermanentError: a message that is too large is permanent, although rate limits have the same code', () => {
  expect(isPermanentError(grpcError(8, 'grpc: received message larger than max (5242880 vs. 4194304)'))).toBe(true)
})

test('isPermanentError: an error without a gRPC code is permanent', () => {
  expect(isPermanentError(new TypeError('not a function'))).toBe(true)
})

function grpcError(code: number, message = 'no'): Error {
  return Object.assign(new Error(message), { code })
}
