import type { temporal } from '@temporalio/proto'
import { isObject } from '../lib/json.ts'
import type { ErrorCause, ErrorDetails } from '../wire/execution.ts'
import { MAX_CAUSES, mapErrorValues, type TraceError } from '../wire/trace/entry.ts'
import { NexusHandlerErrorRetryBehavior } from './enums.ts'
import type { Payload, PayloadReader } from './payload.ts'

export type Failure = temporal.api.failure.v1.IFailure

/** A failure whose values are decoded, and those of its causes. */
export interface DecodedFailure extends Failure {
  cause?: DecodedFailure | null
  /** What the user's code has added to the failure; of a timeout, the details of the last heartbeat. */
  details?: unknown[]
}

/**
 * The error that the user's code threw: the outermost failure that is not a wrapper. It has no stack and no identity.
 */
export function toErrorDetails(failure: DecodedFailure): ErrorDetails {
  let own = failure
  const path = [own]
  while (own.cause && isWrapper(own)) {
    own = own.cause
    path.push(own)
  }
  const activityId = path.map(({ activityFailureInfo }) => activityFailureInfo?.activityId).findLast(Boolean) ?? null
  const { name, message, ...values } = toErrorCause(own)
  return { name, message, retryable: path.every(isRetryable), activityId, ...values }
}

/** The failure with its chain of causes. */
export function toErrorCause(failure: DecodedFailure): ErrorCause {
  return toCause(failure, MAX_CAUSES)
}

/** The error as a trace has it: absent values are omitted. */
export function toTraceError({ name, message, cause, ...values }: ErrorCause): TraceError {
  const shown = mapErrorValues(values, (value) => (value.length > 0 ? value : undefined))
  return { name, message, ...shown, cause: cause && toTraceError(cause) }
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

function encodedDetails({ applicationFailureInfo, canceledFailureInfo, timeoutFailureInfo }: Failure): Payload[] {
  const { details } = applicationFailureInfo ?? canceledFailureInfo ?? {}
  return (details ?? timeoutFailureInfo?.lastHeartbeatDetails)?.payloads ?? []
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
      failure.nexusHandlerFailureInfo ||
      isRethrown(failure),
  )
}

// What the SDK says in a wrapper: "Activity task failed", "Child Workflow execution timed out".
const WRAPPER_MESSAGE =
  /^(?:(?:local )?activity(?: task)?|child workflow execution|nexus operation) (?:failed|timed out|terminated|cancelled(?: before scheduled| after starting)?|completed unsuccessfully)$/i

/** Whether the user's code has added nothing to the wrapper that it has rethrown. */
function isRethrown({ applicationFailureInfo, message, details = [] }: DecodedFailure): boolean {
  if (!WRAPPER_TYPES.has(applicationFailureInfo?.type) || applicationFailureInfo?.nonRetryable) return false
  // Workers of the older generation add where the trace is. A detail that is stored elsewhere is null.
  const isEmpty = details.every((detail) => detail === null || (isObject(detail) && isObject(detail.trace)))
  return isEmpty && WRAPPER_MESSAGE.test(message ?? '')
}

function toCause(failure: DecodedFailure, left: number): ErrorCause {
  const { message, details = [], timeoutFailureInfo, cause } = failure
  const isHeartbeat = Boolean(timeoutFailureInfo) && details.length > 0
  return {
    name: nameOf(failure),
    message: withoutIdentities(message ?? ''),
    details: isHeartbeat ? [] : details,
    ...(isHeartbeat && { lastHeartbeatDetails: details }),
    cause: cause && left > 0 ? toCause(cause, left - 1) : null,
  }
}

// The Go SDK and the Java SDK write a worker's identity, with its host, into the message of an activity's failure, and
// errors around it repeat the message.
const IDENTITIES = [
  /(, startedEventID: \d{1,19}), identity: (?:[^()\n]|\([^()\n]{0,99}\)){0,999}(?=\))/g,
  /(), identity='[^\n]{0,999}?'(?=, retryState=RETRY_STATE_)/g,
]

/** The message without the identities of workers that SDKs write into it. */
export function withoutIdentities(message: string): string {
  return IDENTITIES.reduce((text, pattern) => text.replace(pattern, '$1'), message)
}

function nameOf(failure: Failure): string {
  if (failure.applicationFailureInfo?.type) return failure.applicationFailureInfo.type
  if (failure.timeoutFailureInfo) return 'TimeoutFailure'
  if (failure.canceledFailureInfo) return 'CanceledFailure'
  if (failure.terminatedFailureInfo) return 'TerminatedFailure'
  if (failure.activityFailureInfo) return 'ActivityFailure'
  if (failure.childWorkflowExecutionFailureInfo) return 'ChildWorkflowFailure'
  if (failure.nexusOperationExecutionFailureInfo) return 'NexusOperationFailure'
  return failure.nexusHandlerFailureInfo?.type || 'Error'
}

// https://github.com/nexus-rpc/api/blob/main/SPEC.md#predefined-handler-errors
const NON_RETRYABLE_TYPES: ReadonlySet<unknown> = new Set([
  'BAD_REQUEST',
  'UNAUTHENTICATED',
  'UNAUTHORIZED',
  'NOT_FOUND',
  'CONFLICT',
  'NOT_IMPLEMENTED',
])

function isRetryable(failure: Failure): boolean {
  if (failure.canceledFailureInfo || failure.terminatedFailureInfo) return false
  const { retryBehavior, type } = failure.nexusHandlerFailureInfo ?? {}
  if (retryBehavior) return retryBehavior === NexusHandlerErrorRetryBehavior.RETRYABLE
  if (NON_RETRYABLE_TYPES.has(type)) return false
  return !(failure.applicationFailureInfo?.nonRetryable || failure.serverFailureInfo?.nonRetryable)
}
