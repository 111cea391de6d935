import proto from '@temporalio/proto'
import { expect, test } from 'vitest'
import type { ServiceError } from '../../../src/domain/errors.ts'
import {
  isGoneOrClosed,
  isQueryFailure,
  isTransient,
  type RequestFacts,
  toServiceError,
} from '../../../src/engine/errors.ts'
import { RpcError } from '../../../src/engine/transport/transport.ts'
import { GrpcCode } from '../../../src/temporal/grpc-code.ts'
import { answer, detail, READ, translated, WRITE } from './rpc-errors.ts'

const { ResourceExhaustedCause: Cause } = proto.temporal.api.enums.v1

function exhausted(cause: number): RpcError {
  return answer(GrpcCode.RESOURCE_EXHAUSTED, 'text of the engine', detail('ResourceExhaustedFailure', { cause }))
}

test('toServiceError: returns an error that does not come from the engine unchanged', () => {
  const bug = new TypeError('a bug')

  expect(toServiceError(bug, READ)).toBe(bug)
})

test('toServiceError: adds the details of the request', () => {
  const request: RequestFacts = { kind: 'read', details: { workflowId: 'orders-17', runId: 'r', updateId: 'u' } }

  expect(translated(answer(GrpcCode.UNAVAILABLE), request)).toMatchObject({
    workflowId: 'orders-17',
    runId: 'r',
    updateId: 'u',
  })
})

test('toServiceError: an unreachable engine is EngineUnavailableError', () => {
  expect(translated(answer(GrpcCode.UNAVAILABLE)).error).toBe('EngineUnavailableError')
})

test('toServiceError: a timeout is blamed on the worker if the request waits for one, otherwise on the engine', () => {
  expect(translated(answer(GrpcCode.DEADLINE_EXCEEDED)).error).toBe('EngineUnavailableError')
  expect(translated(answer(GrpcCode.DEADLINE_EXCEEDED), { ...READ, waitsForWorker: true }).error).toBe(
    'DeadlineExceededError',
  )
})

test('toServiceError: a request without a worker polling the task queue is DeadlineExceededError', () => {
  const unpolled = answer(GrpcCode.FAILED_PRECONDITION, 'no poller seen for task queue recently, worker may be down')

  expect(translated(unpolled, { ...WRITE, waitsForWorker: true })).toMatchObject({
    error: 'DeadlineExceededError',
    message: 'No worker responded for workflow orders-17: no worker has polled its task queue recently',
  })
})

test('toServiceError: a call that our signal aborted counts as a timeout', () => {
  expect(translated(answer(GrpcCode.CANCELLED)).error).toBe('EngineUnavailableError')
  expect(translated(answer(GrpcCode.CANCELLED), { ...READ, waitsForWorker: true }).error).toBe('DeadlineExceededError')
})

test('toServiceError: names an unknown workflow or run', () => {
  const unknown = answer(GrpcCode.NOT_FOUND, 'workflow not found for ID: orders-17', detail('NotFoundFailure'))

  expect(translated(unknown)).toMatchObject({
    error: 'WorkflowNotFoundError',
    message: 'Workflow orders-17 not found',
  })
  expect(translated(unknown, { kind: 'read', details: { workflowId: 'orders-17', runId: 'r' } }).message).toBe(
    'Workflow orders-17 has no run r',
  )
})

test('toServiceError: an unknown namespace is not an unknown workflow', () => {
  expect(translated(answer(GrpcCode.NOT_FOUND, 'text', detail('NamespaceNotFoundFailure'))).error).toBe('EngineError')
  expect(translated(answer(GrpcCode.NOT_FOUND, 'Not Found')).error).toBe('EngineError')
})

test('toServiceError: an id in use is returned with its run', () => {
  const fields = { runId: 'r1', startRequestId: 'secret' }

  expect(
    translated(
      answer(GrpcCode.ALREADY_EXISTS, 'text', detail('WorkflowExecutionAlreadyStartedFailure', fields)),
      WRITE,
    ),
  ).toEqual({
    error: 'WorkflowAlreadyStartedError',
    message: 'Workflow id orders-17 is in use',
    workflowId: 'orders-17',
    runId: 'r1',
  })
})

test('toServiceError: an id in use has no run id if the engine does not return it', () => {
  expect(translated(answer(GrpcCode.ALREADY_EXISTS), WRITE)).not.toHaveProperty('runId')
})

test('toServiceError: a rate limit, a concurrency limit and a busy workflow are ResourceExhaustedError with Retry-After', () => {
  const causes = [
    Cause.RESOURCE_EXHAUSTED_CAUSE_RPS_LIMIT,
    Cause.RESOURCE_EXHAUSTED_CAUSE_CONCURRENT_LIMIT,
    Cause.RESOURCE_EXHAUSTED_CAUSE_BUSY_WORKFLOW,
  ]

  const answers = causes.map((cause) => translated(exhausted(cause), WRITE))

  expect(answers.map(({ error, retryAfterSeconds }) => [error, retryAfterSeconds])).toEqual([
    ['ResourceExhaustedError', 1],
    ['ResourceExhaustedError', 1],
    ['ResourceExhaustedError', 1],
  ])
  expect(answers.map(({ message }) => message)).toEqual([
    'The workflow engine has reached its rate or concurrency limit.',
    'The workflow engine has reached its rate or concurrency limit.',
    'The workflow is busy.',
  ])
})

test('toServiceError: a payload, memo or message that is too large for the engine is PayloadTooLargeError', () => {
  const answers = [
    answer(GrpcCode.INVALID_ARGUMENT, 'Blob data size exceeds limit.'),
    answer(GrpcCode.INVALID_ARGUMENT, 'Memo size exceeds limit.'),
    answer(GrpcCode.RESOURCE_EXHAUSTED, 'grpc: received message larger than max (5000000 vs. 4194304)'),
  ].map((error) => translated(error, WRITE))

  expect(answers.map(({ error, source }) => [error, source])).toEqual([
    ['PayloadTooLargeError', 'engine'],
    ['PayloadTooLargeError', 'engine'],
    ['PayloadTooLargeError', 'engine'],
  ])
})

test('toServiceError: a response that is too large for us is EngineError', () => {
  expect(
    translated(answer(GrpcCode.RESOURCE_EXHAUSTED, 'Received message larger than max (134217729 vs. 134217728)')).error,
  ).toBe('EngineError')
})

test('toServiceError: a run that cannot accept the request now is WorkflowNotReadyError', () => {
  expect(translated(answer(GrpcCode.FAILED_PRECONDITION, 'text', detail('WorkflowNotReadyFailure'))).error).toBe(
    'WorkflowNotReadyError',
  )
})

test('toServiceError: an update of a paused run is WorkflowNotReadyError with its status', () => {
  expect(
    translated(answer(GrpcCode.FAILED_PRECONDITION, 'Workflow is paused. Cannot update the workflow.')),
  ).toMatchObject({ error: 'WorkflowNotReadyError', workflowStatus: 'paused' })
})

test('toServiceError: a call that the engine does not support is NotSupportedError', () => {
  expect(translated(answer(GrpcCode.UNIMPLEMENTED)).error).toBe('NotSupportedError')
})

test('toServiceError: any other error is EngineError', () => {
  const codes = [
    GrpcCode.INVALID_ARGUMENT,
    GrpcCode.FAILED_PRECONDITION,
    GrpcCode.PERMISSION_DENIED,
    GrpcCode.UNAUTHENTICATED,
    2,
    10,
    13,
    15,
    99,
  ]

  expect(codes.map((code) => translated(answer(code)).error)).toEqual(codes.map(() => 'EngineError'))
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

test('toServiceError: never passes on a message of the engine', () => {
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

test('Retry-After: a read can always be retried', () => {
  expect(translated(answer(GrpcCode.UNAVAILABLE), READ).retryAfterSeconds).toBe(1)
})

test('Retry-After: a write can be retried if it was never sent', () => {
  const unsent = new RpcError('No connection established', { code: GrpcCode.UNAVAILABLE, mayHaveBeenSent: false })

  expect(translated(unsent, WRITE).retryAfterSeconds).toBe(1)
})

test('Retry-After: a write that may have been sent has none', () => {
  expect(translated(answer(GrpcCode.UNAVAILABLE), WRITE)).not.toHaveProperty('retryAfterSeconds')
  expect(translated(answer(GrpcCode.DEADLINE_EXCEEDED), WRITE)).not.toHaveProperty('retryAfterSeconds')
})

test('Retry-After: the message of a write that may have been sent says so', () => {
  const unsent = new RpcError('No connection established', { code: GrpcCode.UNAVAILABLE, mayHaveBeenSent: false })

  expect(translated(answer(GrpcCode.UNAVAILABLE), WRITE).message).toContain('the request may have been carried out')
  expect([translated(unsent, WRITE).message, translated(answer(GrpcCode.UNAVAILABLE), READ).message]).toEqual([
    'The workflow engine is not responding.',
    'The workflow engine is not responding.',
  ])
})

test('Retry-After: a worker that did not respond in time has none', () => {
  expect(translated(answer(GrpcCode.DEADLINE_EXCEEDED), { ...READ, waitsForWorker: true })).not.toHaveProperty(
    'retryAfterSeconds',
  )
})

test('isGoneOrClosed: is true for unknown and closed runs, not for an unknown namespace', () => {
  expect(
    isGoneOrClosed(answer(GrpcCode.NOT_FOUND, 'workflow execution already completed', detail('NotFoundFailure'))),
  ).toBe(true)
  expect(isGoneOrClosed(answer(GrpcCode.NOT_FOUND, 'text', detail('NamespaceNotFoundFailure')))).toBe(false)
  expect(isGoneOrClosed(new Error('NOT_FOUND'))).toBe(false)
})

test('isQueryFailure: is true only for INVALID_ARGUMENT with the detail of a query failure', () => {
  expect(isQueryFailure(answer(GrpcCode.INVALID_ARGUMENT, 'text', detail('QueryFailedFailure')))).toBe(true)
  expect(isQueryFailure(answer(GrpcCode.INVALID_ARGUMENT))).toBe(false)
})

test('isTransient: is true if the engine is unreachable, slow or at a limit', () => {
  const transient = [
    answer(GrpcCode.UNAVAILABLE),
    answer(GrpcCode.DEADLINE_EXCEEDED),
    exhausted(Cause.RESOURCE_EXHAUSTED_CAUSE_CONCURRENT_LIMIT),
  ]
  const final = [
    answer(GrpcCode.NOT_FOUND),
    answer(GrpcCode.PERMISSION_DENIED),
    answer(GrpcCode.RESOURCE_EXHAUSTED, 'grpc: received message larger than max'),
  ]

  expect([...transient, ...final].map(isTransient)).toEqual([true, true, true, false, false, false])
})
