import type { temporal } from '@temporalio/proto'
import { isObject } from '../lib/is-object.ts'
import type { ErrorCause, ErrorDetails } from '../protocol/execution.ts'
import { MAX_CAUSES } from '../protocol/trace/entry.ts'
import type { PayloadReader } from './payload-reader.ts'

export type Failure = temporal.api.failure.v1.IFailure

/**
 * The error that the user's code threw: the outermost failure that is not a wrapper. It has no stack and no identity.
 */
export function toErrorDetails(failure: Failure): ErrorDetails {
  let own = failure
  let activityId: string | null = null
  while (isWrapper(own)) {
    activityId = own.activityFailureInfo?.activityId ?? activityId
    if (!own.cause) break
    own = own.cause
  }
  const { name, message, cause } = toErrorCause(own)
  return { message, name, retryable: isRetryable(own), activityId, cause }
}

/** The failure with its chain of causes. */
export function toErrorCause(failure: Failure): ErrorCause {
  return toCause(failure, MAX_CAUSES)
}

/** Restores the messages that a codec has encoded, in the failure and its causes. */
export async function decodeFailure(failure: Failure, payloads: Pick<PayloadReader, 'decode'>): Promise<Failure> {
  const cause = failure.cause ? await decodeFailure(failure.cause, payloads) : null
  if (!failure.encodedAttributes) return cause === failure.cause ? failure : { ...failure, cause }
  const [attributes] = await payloads.decode([failure.encodedAttributes])
  const message = isObject(attributes) && typeof attributes.message === 'string' ? attributes.message : failure.message
  return { ...failure, message: message ?? null, cause }
}

// `ApplicationFailure.fromError` keeps the type of a wrapper when a workflow rethrows the failure of an activity.
const WRAPPER_TYPES: ReadonlySet<unknown> = new Set([
  'ActivityFailure',
  'ChildWorkflowFailure',
  'NexusOperationFailure',
])

function isWrapper(failure: Failure): boolean {
  return Boolean(
    failure.activityFailureInfo ||
      failure.childWorkflowExecutionFailureInfo ||
      failure.nexusOperationExecutionFailureInfo ||
      (failure.cause && WRAPPER_TYPES.has(failure.applicationFailureInfo?.type)),
  )
}

function toCause(failure: Failure, left: number): ErrorCause {
  return {
    name: nameOf(failure),
    message: failure.message ?? '',
    cause: failure.cause && left > 0 ? toCause(failure.cause, left - 1) : null,
  }
}

function nameOf(failure: Failure): string {
  if (failure.applicationFailureInfo?.type) return failure.applicationFailureInfo.type
  if (failure.timeoutFailureInfo) return 'TimeoutFailure'
  if (failure.canceledFailureInfo) return 'CanceledFailure'
  if (failure.terminatedFailureInfo) return 'TerminatedFailure'
  if (failure.activityFailureInfo) return 'ActivityFailure'
  if (failure.childWorkflowExecutionFailureInfo) return 'ChildWorkflowFailure'
  if (failure.nexusOperationExecutionFailureInfo) return 'NexusOperationFailure'
  return 'Error'
}

function isRetryable(failure: Failure): boolean {
  if (failure.canceledFailureInfo || failure.terminatedFailureInfo) return false
  return !(failure.applicationFailureInfo?.nonRetryable || failure.serverFailureInfo?.nonRetryable)
}
