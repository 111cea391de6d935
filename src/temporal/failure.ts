import type { temporal } from '@temporalio/proto'
import { isObject } from '../lib/json.ts'
import type { ErrorCause, ErrorDetails } from '../protocol/execution.ts'
import { MAX_CAUSES, type TraceError } from '../protocol/trace/entry.ts'
import type { Payload, PayloadReader } from './payload.ts'

export type Failure = temporal.api.failure.v1.IFailure

/** A failure whose values are decoded, and those of its causes. */
export interface DecodedFailure extends Failure {
  cause?: DecodedFailure | null
  /** What the user's code has added to the failure. */
  details?: unknown[]
}

/**
 * The error that the user's code threw: the outermost failure that is not a wrapper. It has no stack and no identity.
 */
export function toErrorDetails(failure: DecodedFailure): ErrorDetails {
  let own = failure
  let activityId: string | null = null
  while (isWrapper(own)) {
    activityId = own.activityFailureInfo?.activityId ?? activityId
    if (!own.cause) break
    own = own.cause
  }
  const { name, message, details, cause } = toErrorCause(own)
  return { message, name, retryable: isRetryable(own), activityId, details, cause }
}

/** The failure with its chain of causes. */
export function toErrorCause(failure: DecodedFailure): ErrorCause {
  return toCause(failure, MAX_CAUSES)
}

/** The error as a trace has it: absent values are omitted. */
export function toTraceError({ name, message, details, cause }: ErrorCause): TraceError {
  return { name, message, ...(details.length > 0 && { details }), cause: cause && toTraceError(cause) }
}

/**
 * Decodes the details of the failure and its causes, and restores the messages that a codec has encoded, with one call
 * of the codec.
 */
export async function decodeFailure(
  failure: Failure,
  payloads: Pick<PayloadReader, 'decode'>,
): Promise<DecodedFailure> {
  const chain = [...causesOf(failure)]
  const lists = chain.map((each) => [...encodedMessage(each), ...encodedDetails(each)])
  const encoded = lists.flat()
  if (encoded.length === 0) return failure
  const values = [...(await payloads.decode(encoded))]
  const decoded = chain.map((each, index) => toDecodedFailure(each, values.splice(0, lists[index]?.length ?? 0)))
  return decoded.reduceRight((cause, each) => ({ ...each, cause }))
}

function toDecodedFailure(failure: Failure, values: unknown[]): DecodedFailure {
  const { cause: _, ...own } = failure
  if (!failure.encodedAttributes) return { ...own, details: values }
  const [attributes, ...details] = values
  const message = isObject(attributes) && typeof attributes.message === 'string' ? attributes.message : own.message
  return { ...own, message: message ?? null, details }
}

function* causesOf(failure: Failure): Iterable<Failure> {
  for (let each: Failure | null | undefined = failure; each; each = each.cause) yield each
}

function encodedMessage({ encodedAttributes }: Failure): Payload[] {
  return encodedAttributes ? [encodedAttributes] : []
}

function encodedDetails({ applicationFailureInfo, canceledFailureInfo }: Failure): Payload[] {
  return (applicationFailureInfo ?? canceledFailureInfo)?.details?.payloads ?? []
}

// `ApplicationFailure.fromError` keeps the type of a wrapper when a workflow rethrows the failure of an activity.
const WRAPPER_TYPES: ReadonlySet<unknown> = new Set([
  'ActivityFailure',
  'ChildWorkflowFailure',
  'NexusOperationFailure',
])

function isWrapper(failure: DecodedFailure): boolean {
  return Boolean(
    failure.activityFailureInfo ||
      failure.childWorkflowExecutionFailureInfo ||
      failure.nexusOperationExecutionFailureInfo ||
      (failure.cause && WRAPPER_TYPES.has(failure.applicationFailureInfo?.type)),
  )
}

function toCause(failure: DecodedFailure, left: number): ErrorCause {
  return {
    name: nameOf(failure),
    message: failure.message ?? '',
    details: failure.details ?? [],
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
