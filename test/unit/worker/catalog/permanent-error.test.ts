import { expect, test } from 'vitest'
import { isRefusal } from '../../../../src/worker/catalog/permanent-error.ts'

test('isRefusal: an invalid catalog, a refused permission and a missing key', () => {
  expect([3, 7, 16].map((code) => isRefusal(grpcError(code)))).toEqual([true, true, true])
})

test('isRefusal: not what passes: an engine that is away, late, at its limit, or without the namespace yet', () => {
  expect([14, 4, 8, 5, 1, 13].map((code) => isRefusal(grpcError(code)))).toEqual([
    false,
    false,
    false,
    false,
    false,
    false,
  ])
})

test('isRefusal: a message that is too large for the engine, though limits have the same code', () => {
  expect(isRefusal(grpcError(8, 'grpc: received message larger than max (5242880 vs. 4194304)'))).toBe(true)
})

test('isRefusal: a bug', () => {
  expect(isRefusal(new TypeError('not a function'))).toBe(true)
})

function grpcError(code: number, message = 'no'): Error {
  return Object.assign(new Error(message), { code })
}
