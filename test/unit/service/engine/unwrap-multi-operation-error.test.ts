import proto from '@temporalio/proto'
import { expect, test } from 'vitest'
import { isGoneOrClosed, unwrapMultiOperationError } from '../../../../src/service/engine/errors.ts'
import type { ErrorDetail, RpcError } from '../../../../src/service/engine/transport/transport.ts'
import { GrpcCode } from '../../../../src/shared/temporal/grpc-code.ts'
import { answer, detail, READ, translated, WRITE } from './rpc-errors.ts'

const { ResourceExhaustedCause: Cause } = proto.temporal.api.enums.v1

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

const unwrapped = (error: RpcError, request = READ) => translated(unwrapMultiOperationError(error) as RpcError, request)

test('unwrapMultiOperationError: returns the operation that failed, not those aborted because of it', () => {
  const paused = { code: GrpcCode.FAILED_PRECONDITION, message: 'Workflow is paused. Cannot update the workflow.' }
  const large = { code: GrpcCode.INVALID_ARGUMENT, message: 'Blob data size exceeds limit.' }

  const ofUpdate = unwrapped(severally(GrpcCode.FAILED_PRECONDITION, ABORTED, paused))
  expect(ofUpdate).toMatchObject({ error: 'WorkflowNotReadyError', workflowStatus: 'paused' })
  expect(unwrapped(severally(GrpcCode.INVALID_ARGUMENT, large, ABORTED)).error).toBe('PayloadTooLargeError')
})

test('unwrapMultiOperationError: a limit has Retry-After only if it was reached before the start was carried out', () => {
  const cause = Cause.RESOURCE_EXHAUSTED_CAUSE_CONCURRENT_LIMIT
  const limited = {
    code: GrpcCode.RESOURCE_EXHAUSTED,
    message: 'text',
    details: [detail('ResourceExhaustedFailure', { cause })],
  }

  const [before, after] = [ABORTED, DONE].map((start) =>
    unwrapped(severally(GrpcCode.RESOURCE_EXHAUSTED, start, limited), WRITE),
  )

  expect([before?.error, before?.retryAfterSeconds]).toEqual(['ResourceExhaustedError', 1])
  expect([after?.error, after?.retryAfterSeconds]).toEqual(['ResourceExhaustedError', undefined])
})

test('unwrapMultiOperationError: a run that closed before it received the update counts as closed', () => {
  const closed = {
    code: GrpcCode.NOT_FOUND,
    message: 'workflow update was aborted by closing workflow',
    details: [detail('NotFoundFailure')],
  }

  expect(isGoneOrClosed(unwrapMultiOperationError(severally(GrpcCode.NOT_FOUND, DONE, closed)))).toBe(true)
})

test('unwrapMultiOperationError: returns any other error unchanged', () => {
  const [down, odd, bug] = [
    answer(GrpcCode.UNAVAILABLE),
    severally(GrpcCode.ABORTED, ABORTED, ABORTED),
    new TypeError('a bug'),
  ]

  const facts = [unwrapMultiOperationError(down), unwrapMultiOperationError(odd), unwrapMultiOperationError(bug)]
  expect(facts).toEqual([down, odd, bug])
})
