import proto from '@temporalio/proto'
import { describe, expect, test } from 'vitest'
import type { ErrorFacts } from '../../../src/domain/errors.ts'
import { ServiceError } from '../../../src/domain/errors.ts'
import {
  isGoneOrClosed,
  isQueryFailure,
  isTransient,
  type RequestFacts,
  toServiceError,
  unwrapMultiOperationError,
} from '../../../src/engine/errors.ts'
import { type ErrorDetail, RpcError } from '../../../src/engine/transport/transport.ts'
import { GrpcCode } from '../../../src/temporal/grpc-code.ts'

const { ResourceExhaustedCause: Cause } = proto.temporal.api.enums.v1

const READ: RequestFacts = { kind: 'read', details: { workflowId: 'orders-17' } }
const WRITE: RequestFacts = { kind: 'write', details: { workflowId: 'orders-17' } }

function detail(name: string, fields: object = {}): ErrorDetail {
  return { name, fields }
}

function exhausted(cause: number): RpcError {
  return answer(GrpcCode.RESOURCE_EXHAUSTED, 'text of the engine', detail('ResourceExhaustedFailure', { cause }))
}

function answer(code: number, message = 'text of the engine', ...details: ErrorDetail[]): RpcError {
  return new RpcError(message, { code, details })
}

function translated(error: RpcError, request: RequestFacts = READ): { error: string; message: string } & ErrorFacts {
  const translation = toServiceError(error, request)
  if (!(translation instanceof ServiceError)) throw new Error('not translated', { cause: translation })
  return { error: translation.error, message: translation.message, ...translation.details }
}

describe('toServiceError', () => {
  test('toServiceError: what is no answer of the engine passes through', () => {
    const bug = new TypeError('a bug')

    expect(toServiceError(bug, READ)).toBe(bug)
  })

  test('toServiceError: carries the facts of what was asked', () => {
    const request: RequestFacts = { kind: 'read', details: { workflowId: 'orders-17', runId: 'r', updateId: 'u' } }

    expect(translated(answer(GrpcCode.UNAVAILABLE), request)).toMatchObject({
      workflowId: 'orders-17',
      runId: 'r',
      updateId: 'u',
    })
  })

  test('toServiceError: an engine out of reach is EngineUnavailableError', () => {
    expect(translated(answer(GrpcCode.UNAVAILABLE)).error).toBe('EngineUnavailableError')
  })

  test('toServiceError: silence is the engine’s, or the worker’s where one was waited for', () => {
    expect(translated(answer(GrpcCode.DEADLINE_EXCEEDED)).error).toBe('EngineUnavailableError')
    expect(translated(answer(GrpcCode.DEADLINE_EXCEEDED), { ...READ, waitsForWorker: true }).error).toBe(
      'DeadlineExceededError',
    )
  })

  test('toServiceError: a query or an update that the engine gives up for want of a worker says so', () => {
    const unpolled = answer(GrpcCode.FAILED_PRECONDITION, 'no poller seen for task queue recently, worker may be down')

    expect(translated(unpolled, { ...WRITE, waitsForWorker: true })).toMatchObject({
      error: 'DeadlineExceededError',
      message: 'No worker responded for workflow orders-17: no worker has polled its task queue recently',
    })
  })

  test('toServiceError: what we gave up is the silence of whom we waited for', () => {
    expect(translated(answer(GrpcCode.CANCELLED)).error).toBe('EngineUnavailableError')
    expect(translated(answer(GrpcCode.CANCELLED), { ...READ, waitsForWorker: true }).error).toBe(
      'DeadlineExceededError',
    )
  })

  test('toServiceError: an unknown workflow, or run, is named', () => {
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

  test('toServiceError: an id in use comes with its run', () => {
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

  test('toServiceError: an id in use by a run that the engine does not name has none', () => {
    expect(translated(answer(GrpcCode.ALREADY_EXISTS), WRITE)).not.toHaveProperty('runId')
  })

  test('toServiceError: the engine’s rate limit, its in-flight limit and a busy workflow are ResourceExhaustedError, after 1 s again', () => {
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

  test('toServiceError: a payload, a memo and a message too large for the engine are PayloadTooLargeError of the engine', () => {
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

  test('toServiceError: an answer too large for us is no fault of the caller’s', () => {
    expect(
      translated(answer(GrpcCode.RESOURCE_EXHAUSTED, 'Received message larger than max (134217729 vs. 134217728)'))
        .error,
    ).toBe('EngineError')
  })

  test('toServiceError: a run that can not take it now is WorkflowNotReadyError', () => {
    expect(translated(answer(GrpcCode.FAILED_PRECONDITION, 'text', detail('WorkflowNotReadyFailure'))).error).toBe(
      'WorkflowNotReadyError',
    )
  })

  test('toServiceError: a paused run that refuses an update is WorkflowNotReadyError, and says paused', () => {
    expect(
      translated(answer(GrpcCode.FAILED_PRECONDITION, 'Workflow is paused. Cannot update the workflow.')),
    ).toMatchObject({
      error: 'WorkflowNotReadyError',
      workflowStatus: 'paused',
    })
  })

  test('toServiceError: what the engine lacks is NotSupportedError', () => {
    expect(translated(answer(GrpcCode.UNIMPLEMENTED)).error).toBe('NotSupportedError')
  })

  test('toServiceError: whatever nobody foresaw is EngineError', () => {
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

  test('toServiceError: the log is told which variable to look at', () => {
    const causes = [
      answer(GrpcCode.NOT_FOUND, 'text', detail('NamespaceNotFoundFailure')),
      answer(GrpcCode.UNAUTHENTICATED),
      answer(GrpcCode.PERMISSION_DENIED),
    ].map((error) => String((toServiceError(error, READ) as ServiceError).cause))

    expect(causes[0]).toContain('ENGINE_NAMESPACE')
    expect(causes[1]).toContain('ENGINE_API_KEY')
    expect(causes[2]).toContain('ENGINE_API_KEY')
  })

  test('toServiceError: no text of the engine’s leaves, whatever the code', () => {
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
})

describe('Retry-After', () => {
  test('Retry-After: a read may always be tried again', () => {
    expect(translated(answer(GrpcCode.UNAVAILABLE), READ).retryAfterSeconds).toBe(1)
  })

  test('Retry-After: a write may be tried again when nothing was sent', () => {
    const unsent = new RpcError('No connection established', { code: GrpcCode.UNAVAILABLE, mayHaveBeenSent: false })

    expect(translated(unsent, WRITE).retryAfterSeconds).toBe(1)
  })

  test('Retry-After: a write that may have been sent invites to nothing', () => {
    expect(translated(answer(GrpcCode.UNAVAILABLE), WRITE)).not.toHaveProperty('retryAfterSeconds')
    expect(translated(answer(GrpcCode.DEADLINE_EXCEEDED), WRITE)).not.toHaveProperty('retryAfterSeconds')
  })

  test('Retry-After: where there is none because a write may have been sent, the message says so', () => {
    const unsent = new RpcError('No connection established', { code: GrpcCode.UNAVAILABLE, mayHaveBeenSent: false })

    expect(translated(answer(GrpcCode.UNAVAILABLE), WRITE).message).toContain('the request may have been carried out')
    expect([translated(unsent, WRITE).message, translated(answer(GrpcCode.UNAVAILABLE), READ).message]).toEqual([
      'The workflow engine is not responding.',
      'The workflow engine is not responding.',
    ])
  })

  test('Retry-After: a worker that did not answer in time invites to nothing', () => {
    expect(translated(answer(GrpcCode.DEADLINE_EXCEEDED), { ...READ, waitsForWorker: true })).not.toHaveProperty(
      'retryAfterSeconds',
    )
  })
})

test('isGoneOrClosed: is the engine’s one refusal for unknown and closed runs, not for a namespace', () => {
  expect(
    isGoneOrClosed(answer(GrpcCode.NOT_FOUND, 'workflow execution already completed', detail('NotFoundFailure'))),
  ).toBe(true)
  expect(isGoneOrClosed(answer(GrpcCode.NOT_FOUND, 'text', detail('NamespaceNotFoundFailure')))).toBe(false)
  expect(isGoneOrClosed(new Error('NOT_FOUND'))).toBe(false)
})

test('isQueryFailure: needs the detail, for a plain INVALID_ARGUMENT is no handler’s fault', () => {
  expect(isQueryFailure(answer(GrpcCode.INVALID_ARGUMENT, 'text', detail('QueryFailedFailure')))).toBe(true)
  expect(isQueryFailure(answer(GrpcCode.INVALID_ARGUMENT))).toBe(false)
})

test('isTransient: out of reach, silent or at a limit, not too large and not refused', () => {
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

describe('unwrapMultiOperationError', () => {
  const DONE = {}
  const ABORTED = {
    code: GrpcCode.ABORTED,
    message: 'Operation was aborted.',
    details: [detail('MultiOperationExecutionAborted')],
  }

  function severally(
    code: number,
    ...statuses: { code?: number; message?: string; details?: ErrorDetail[] }[]
  ): RpcError {
    return answer(
      code,
      'Update-with-Start could not be executed.',
      detail('MultiOperationExecutionFailure', { statuses }),
    )
  }

  test('unwrapMultiOperationError: of several operations the one that was refused, not those that were given up for it', () => {
    const paused = { code: GrpcCode.FAILED_PRECONDITION, message: 'Workflow is paused. Cannot update the workflow.' }
    const large = { code: GrpcCode.INVALID_ARGUMENT, message: 'Blob data size exceeds limit.' }

    expect(
      translated(unwrapMultiOperationError(severally(GrpcCode.FAILED_PRECONDITION, ABORTED, paused)) as RpcError),
    ).toMatchObject({
      error: 'WorkflowNotReadyError',
      workflowStatus: 'paused',
    })
    expect(
      translated(unwrapMultiOperationError(severally(GrpcCode.INVALID_ARGUMENT, large, ABORTED)) as RpcError).error,
    ).toBe('PayloadTooLargeError')
  })

  test('unwrapMultiOperationError: a limit that was met before anything was done says when to come again, one met after the start does not', () => {
    const cause = Cause.RESOURCE_EXHAUSTED_CAUSE_CONCURRENT_LIMIT
    const limited = {
      code: GrpcCode.RESOURCE_EXHAUSTED,
      message: 'text',
      details: [detail('ResourceExhaustedFailure', { cause })],
    }

    const [before, after] = [ABORTED, DONE].map((start) =>
      translated(unwrapMultiOperationError(severally(GrpcCode.RESOURCE_EXHAUSTED, start, limited)) as RpcError, WRITE),
    )

    expect([before?.error, before?.retryAfterSeconds]).toEqual(['ResourceExhaustedError', 1])
    expect([after?.error, after?.retryAfterSeconds]).toEqual(['ResourceExhaustedError', undefined])
  })

  test('unwrapMultiOperationError: a run that closed before it took the update is a closed run', () => {
    const closed = {
      code: GrpcCode.NOT_FOUND,
      message: 'workflow update was aborted by closing workflow',
      details: [detail('NotFoundFailure')],
    }

    expect(isGoneOrClosed(unwrapMultiOperationError(severally(GrpcCode.NOT_FOUND, DONE, closed)))).toBe(true)
  })

  test('unwrapMultiOperationError: any other error is itself', () => {
    const [down, odd, bug] = [
      answer(GrpcCode.UNAVAILABLE),
      severally(GrpcCode.ABORTED, ABORTED, ABORTED),
      new TypeError('a bug'),
    ]

    expect([unwrapMultiOperationError(down), unwrapMultiOperationError(odd), unwrapMultiOperationError(bug)]).toEqual([
      down,
      odd,
      bug,
    ])
  })
})
