import { expect, test } from 'vitest'
import { classifyPollFailure, pauseBetweenPollsMs } from '../../../../../src/service/engine/calls/poll-failure.ts'
import type { RpcError } from '../../../../../src/service/engine/transport/transport.ts'
import { ServiceError } from '../../../../../src/service/model/errors.ts'
import { GrpcCode } from '../../../../../src/shared/temporal/grpc-code.ts'
import { answer, detail } from '../rpc-errors.ts'

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
