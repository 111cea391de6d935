import { expect, test } from 'vitest'
import { ServiceError } from '../../../../src/domain/model/errors.ts'
import { classifyPollFailure, pauseBetweenPollsMs } from '../../../../src/engine/calls/poll-failure.ts'
import { RpcError } from '../../../../src/engine/transport/transport.ts'
import { GrpcCode } from '../../../../src/temporal/grpc-code.ts'

test.for<[string, number, string]>([
  ['UNAVAILABLE', GrpcCode.UNAVAILABLE, 'unreachable'],
  ['UNKNOWN', GrpcCode.UNKNOWN, 'unreachable'],
  ['RESOURCE_EXHAUSTED', GrpcCode.RESOURCE_EXHAUSTED, 'limited'],
  ['DEADLINE_EXCEEDED', GrpcCode.DEADLINE_EXCEEDED, 'unanswered'],
  ['CANCELLED', GrpcCode.CANCELLED, 'unanswered'],
  ['NOT_FOUND', GrpcCode.NOT_FOUND, 'final'],
  ['PERMISSION_DENIED', GrpcCode.PERMISSION_DENIED, 'final'],
  ['UNAUTHENTICATED', GrpcCode.UNAUTHENTICATED, 'final'],
  ['INVALID_ARGUMENT', GrpcCode.INVALID_ARGUMENT, 'final'],
])('classifyPollFailure: %s', ([, code, failure]) => {
  expect(classifyPollFailure(new RpcError('no', { code }))).toBe(failure)
})

test('classifyPollFailure: an unknown namespace is not final, because the engine may be starting', () => {
  const details = [{ name: 'NamespaceNotFoundFailure', fields: {} }]

  expect(classifyPollFailure(new RpcError('no', { code: GrpcCode.NOT_FOUND, details }))).toBe('unregistered')
})

test('classifyPollFailure: a limit of one run does not limit the polls of others', () => {
  const inFlight = new RpcError('limit on number of concurrent in-flight updates has been reached (10)', {
    code: GrpcCode.RESOURCE_EXHAUSTED,
  })

  expect(classifyPollFailure(inFlight)).toBe('unanswered')
})

test('classifyPollFailure: a request that is too large for the engine is final', () => {
  const tooLarge = new RpcError('grpc: received message larger than max', { code: GrpcCode.RESOURCE_EXHAUSTED })

  expect(classifyPollFailure(tooLarge)).toBe('final')
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
