import proto from '@temporalio/proto'
import { expect, test } from 'vitest'
import { isGoneOrClosed, type RequestFacts, toServiceError } from '../../../../src/service/engine/errors.ts'
import { withPossibleEffect } from '../../../../src/service/engine/rpc.ts'
import type { RpcError } from '../../../../src/service/engine/transport/transport.ts'
import type { ServiceError } from '../../../../src/service/model/errors.ts'
import { GrpcCode } from '../../../../src/shared/temporal/grpc-code.ts'
import { answer, detail, READ, translated, UNSENT, WRITE } from './rpc-errors.ts'

const { ResourceExhaustedCause: Cause } = proto.temporal.api.enums.v1

function exhausted(cause: number, message = 'text of the engine'): RpcError {
  return answer(GrpcCode.RESOURCE_EXHAUSTED, message, detail('ResourceExhaustedFailure', { cause }))
}

const UNPOLLED = 'no poller seen for task queue recently, worker may be down'
const AWAITED: RequestFacts = { ...READ, workerRequest: 'query "state"' }
const OTHER_CODES = [
  GrpcCode.INVALID_ARGUMENT,
  GrpcCode.FAILED_PRECONDITION,
  GrpcCode.PERMISSION_DENIED,
  GrpcCode.UNAUTHENTICATED,
  ...[2, 10, 13, 15, 99],
]

test.for<[sentence: string, error: RpcError, request: RequestFacts, expected: object]>([
  ['an unreachable engine', answer(GrpcCode.UNAVAILABLE), READ, { error: 'EngineUnavailableError' }],
  ['a timeout of the engine', answer(GrpcCode.DEADLINE_EXCEEDED), READ, { error: 'EngineUnavailableError' }],
  [
    'a timeout of a request that waits for a worker',
    answer(GrpcCode.DEADLINE_EXCEEDED),
    AWAITED,
    {
      error: 'DeadlineExceededError',
      message: 'No worker responded in time to query "state" of workflow orders-17',
      retryAfterSeconds: null,
    },
  ],
  [
    'a request without a worker that polls the task queue',
    answer(GrpcCode.FAILED_PRECONDITION, UNPOLLED),
    { ...WRITE, workerRequest: 'query "state"' },
    {
      error: 'DeadlineExceededError',
      message: 'No worker responded for workflow orders-17: no worker has polled its task queue recently',
    },
  ],
  ['a call that our signal aborted', answer(GrpcCode.CANCELLED), READ, { error: 'EngineUnavailableError' }],
  ['the same while it waits for a worker', answer(GrpcCode.CANCELLED), AWAITED, { error: 'DeadlineExceededError' }],
  [
    'an unknown namespace, not an unknown workflow',
    answer(GrpcCode.NOT_FOUND, 'text', detail('NamespaceNotFoundFailure')),
    READ,
    { error: 'EngineError' },
  ],
  ['an unknown path', answer(GrpcCode.NOT_FOUND, 'Not Found'), READ, { error: 'EngineError' }],
  [
    'a payload that is too large for the engine',
    answer(GrpcCode.INVALID_ARGUMENT, 'Blob data size exceeds limit.'),
    WRITE,
    { error: 'PayloadTooLargeError', source: 'engine' },
  ],
  [
    'a memo that is too large for the engine',
    answer(GrpcCode.INVALID_ARGUMENT, 'Memo size exceeds limit.'),
    WRITE,
    { error: 'PayloadTooLargeError', source: 'engine' },
  ],
  [
    'a message that is too large for the engine',
    answer(GrpcCode.RESOURCE_EXHAUSTED, 'grpc: received message larger than max (5000000 vs. 4194304)'),
    WRITE,
    { error: 'PayloadTooLargeError', source: 'engine' },
  ],
  [
    'a response that is too large for us',
    answer(GrpcCode.RESOURCE_EXHAUSTED, 'Received message larger than max (134217729 vs. 134217728)'),
    READ,
    { error: 'EngineError' },
  ],
  [
    'a run that cannot accept the request now',
    answer(GrpcCode.FAILED_PRECONDITION, 'text', detail('WorkflowNotReadyFailure')),
    READ,
    { error: 'WorkflowNotReadyError' },
  ],
  [
    'an update of a paused run',
    answer(GrpcCode.FAILED_PRECONDITION, 'Workflow is paused. Cannot update the workflow.'),
    READ,
    { error: 'WorkflowNotReadyError', workflowStatus: 'paused' },
  ],
  ['a call that the engine does not support', answer(GrpcCode.UNIMPLEMENTED), READ, { error: 'NotSupportedError' }],
  ...OTHER_CODES.map((code): [string, RpcError, RequestFacts, object] => [
    `the code ${code}`,
    answer(code),
    READ,
    { error: 'EngineError' },
  ]),
  ['a read, which can always be retried', answer(GrpcCode.UNAVAILABLE), READ, { retryAfterSeconds: 1 }],
  ['a write that was never sent', UNSENT, WRITE, { retryAfterSeconds: 1 }],
  ['a write that may have been sent', answer(GrpcCode.UNAVAILABLE), WRITE, { retryAfterSeconds: null }],
  ['a write that was not answered', answer(GrpcCode.DEADLINE_EXCEEDED), WRITE, { retryAfterSeconds: null }],
])('toServiceError: %s', ([, error, request, expected]) => {
  // Null stands for an error without the property.
  expect({ retryAfterSeconds: null, ...translated(error, request) }).toMatchObject(expected)
})

test('isGoneOrClosed: is true for unknown and closed runs, not for an unknown namespace', () => {
  expect(
    isGoneOrClosed(answer(GrpcCode.NOT_FOUND, 'workflow execution already completed', detail('NotFoundFailure'))),
  ).toBe(true)
  expect(isGoneOrClosed(answer(GrpcCode.NOT_FOUND, 'text', detail('NamespaceNotFoundFailure')))).toBe(false)
  expect(isGoneOrClosed(new Error('NOT_FOUND'))).toBe(false)
})

test('toServiceError: names an unknown workflow or run', () => {
  const unknown = answer(GrpcCode.NOT_FOUND, 'workflow not found for ID: orders-17', detail('NotFoundFailure'))

  expect(translated(unknown)).toMatchObject({ error: 'WorkflowNotFoundError', message: 'Workflow orders-17 not found' })
  expect(translated(unknown, { kind: 'read', details: { workflowId: 'orders-17', runId: 'r' } }).message).toBe(
    'Workflow orders-17 has no run r',
  )
})

test('toServiceError: an id in use has no run id if the engine does not return it', () => {
  expect(translated(answer(GrpcCode.ALREADY_EXISTS), WRITE)).not.toHaveProperty('runId')
})

const OF_ENGINE = 'The workflow engine has reached its rate or concurrency limit.'
const OF_RUN = 'Workflow orders-17 has reached a limit on concurrent updates or queries of one run.'
const OF_UPDATES = 'limit on number of concurrent in-flight updates has been reached (10)'

test.for<[sentence: string, error: RpcError, message: string]>([
  ['a rate limit', exhausted(Cause.RESOURCE_EXHAUSTED_CAUSE_RPS_LIMIT), OF_ENGINE],
  ['a concurrency limit', exhausted(Cause.RESOURCE_EXHAUSTED_CAUSE_CONCURRENT_LIMIT), OF_ENGINE],
  ['a busy workflow', exhausted(Cause.RESOURCE_EXHAUSTED_CAUSE_BUSY_WORKFLOW), OF_RUN],
  // It has the cause of a limit of the engine.
  ['the limit on the updates of a run', exhausted(Cause.RESOURCE_EXHAUSTED_CAUSE_CONCURRENT_LIMIT, OF_UPDATES), OF_RUN],
])('toServiceError: %s is ResourceExhaustedError with Retry-After', ([, error, message]) => {
  expect(translated(error, WRITE)).toMatchObject({ error: 'ResourceExhaustedError', retryAfterSeconds: 1, message })
})

test('toServiceError: the cause of the error names the variable to check', () => {
  const causes = [
    answer(GrpcCode.NOT_FOUND, 'text', detail('NamespaceNotFoundFailure')),
    answer(GrpcCode.UNAUTHENTICATED),
    answer(GrpcCode.PERMISSION_DENIED),
  ].map((error) => String((toServiceError(error, READ) as ServiceError).cause))

  expect(causes[0]).toContain('ENGINE_NAMESPACE')
  expect(causes[1]).toContain('ENGINE_API_KEY')
  expect(causes[2]).toContain('ENGINE_API_KEY')
})

test('toServiceError: never passes on a message of the engine (threat 77)', () => {
  const text = 'Last error: connect ECONNREFUSED 10.1.2.3:7233'
  const details = [
    'NotFoundFailure',
    'NamespaceNotFoundFailure',
    'WorkflowNotReadyFailure',
    'ResourceExhaustedFailure',
  ].map((name) => detail(name))
  const errors = Array.from({ length: 17 }, (_, code) => [answer(code, text), answer(code, text, ...details)]).flat()

  const left = errors.map((error) => JSON.stringify(translated(error)))

  expect(left.filter((answered) => /10\.1\.2\.3|ECONNREFUSED|Last error/.test(answered))).toEqual([])
})

test('Retry-After: the message of a write that may have been sent says so', () => {
  expect(translated(answer(GrpcCode.UNAVAILABLE), WRITE).message).toContain('the request may have been carried out')
  expect([translated(UNSENT, WRITE).message, translated(answer(GrpcCode.UNAVAILABLE), READ).message]).toEqual([
    'The workflow engine is not responding.',
    'The workflow engine is not responding.',
  ])
})

test('Retry-After: the message of a limit after a lost response says that the write may have been carried out', () => {
  const limited = withPossibleEffect(exhausted(Cause.RESOURCE_EXHAUSTED_CAUSE_RPS_LIMIT))

  expect(translated(limited, WRITE)).toMatchObject({
    error: 'ResourceExhaustedError',
    message: expect.stringContaining('the request may have been carried out'),
  })
  expect(translated(limited, WRITE)).not.toHaveProperty('retryAfterSeconds')
  expect(translated(limited, READ)).toMatchObject({ message: OF_ENGINE, retryAfterSeconds: 1 })
})
