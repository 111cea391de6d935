/**
 * What a tool returns. Every value is in `structuredContent` and as text, because some hosts show only one of them to
 * the model.
 */

import type { RunRef } from '../../../shared/wire/run-ref.ts'
import { type ErrorName, hasErrorName, isOutage, type ServiceError } from '../../model/errors.ts'
import type { WorkflowResult } from '../../model/execution.ts'

/** `CallToolResult` of the protocol. */
export interface CallToolResult {
  content: { type: 'text'; text: string }[]
  structuredContent: Record<string, unknown>
  isError?: true
}

/** The result of a run that has ended. Ends other than completion are errors of the tool. */
export function endedToolResult({ workflowId, runId, status, output, errorDetails }: WorkflowResult): CallToolResult {
  if (status !== 'completed') return failure({ workflowId, runId, status, error: errorDetails })
  const ids = { workflowId, runId, status }
  return { content: contentOf(output, ids), structuredContent: { ...ids, output } }
}

function contentOf(output: unknown, facts: object): CallToolResult['content'] {
  const text = typeof output === 'string' ? output : JSON.stringify(output ?? null)
  return [toText(text), toText(JSON.stringify(facts))]
}

/**
 * The result of a completed run whose output does not match the schema of the tool: the workflow has not failed, but
 * clients reject such an output.
 */
export function unexpectedToolResult({ workflowId, runId, status, output }: WorkflowResult): CallToolResult {
  const note = 'The workflow has completed. Its output does not match the published output schema.'
  const facts = { workflowId, runId, status, note }
  return { content: contentOf(output, facts), structuredContent: { ...facts, unexpectedOutput: output } }
}

/**
 * The result of a call whose wait is over, or was interrupted by an outage: `unread`. Not an error: the host would
 * repeat the call.
 */
export function openToolResult({ workflowId, runId }: RunRef, unread?: ServiceError): CallToolResult {
  if (unread !== undefined)
    return valueResult({ workflowId, runId, status: 'unknown', error: errorOf(unread), note: STARTED })
  return valueResult({
    workflowId,
    runId,
    status: 'running',
    note: 'The workflow has been started and is still running. Call workflow_result with this workflowId and runId to wait for its result. Do not start it again.',
  })
}

/** What a call that failed may have done. */
interface FailedCall {
  /** Whether it starts a workflow. */
  starts?: boolean
  /** Whether it has an idempotency key: another call with the key finds the run that this one has started. */
  isKeyed?: boolean
  /** The run that it has started. */
  started?: RunRef | null
}

/** A request that was rejected, or one that has failed and may have done something. */
export function rejectedToolResult(error: ServiceError, failed: FailedCall = {}): CallToolResult {
  const { started = null } = failed
  const note = noteOf(error, failed)
  const { workflowId, runId, updateId } = error.details
  return failure({
    ...(workflowId !== undefined && { workflowId }),
    ...(runId !== undefined && { runId }),
    ...(updateId !== undefined && { updateId }),
    ...started,
    status: note === null ? 'rejected' : 'unknown',
    error: errorOf(error),
    ...(note !== null && { note }),
  })
}

function errorOf({ error: name, message, details }: ServiceError): Record<string, unknown> {
  const { workflowId: _, runId: _run, updateId: _update, retryAfterSeconds, mayHaveTakenEffect, ...facts } = details
  return { name, message, ...facts, retryable: retryAfterSeconds !== undefined }
}

const STARTED =
  'The workflow has been started. Call workflow_result with this workflowId and runId. Do not start it again.'

const MAYBE_STARTED =
  'The workflow may have been started. Call workflow_result with this workflowId. Start it again only if it does not exist.'

const MAYBE_UPDATED =
  'The workflow may have the update with this updateId, and may still execute it. Call workflow_explain. Do not send the update again.'

const MAYBE_DONE = 'The request may have been carried out. Call workflow_explain before you repeat it.'

// After one of these errors the update may have been accepted, or even executed.
const MAY_BE_UPDATED: readonly ErrorName[] = [
  'DeadlineExceededError',
  'EngineError',
  'InternalError',
  'NotSupportedError',
]

/** How to find out what the call has done; null if it has done nothing. */
function noteOf(error: ServiceError, { starts = false, isKeyed = false, started = null }: FailedCall): string | null {
  if (started !== null) return STARTED
  const { workflowId, updateId } = error.details
  // A model that calls the tool again does not send the idempotency key, and could start a second run.
  if (isKeyed && workflowId !== undefined && hasErrorName(error, 'EngineUnavailableError')) return MAYBE_STARTED
  const isUncertain = mayBeCarriedOut(error)
  if (updateId !== undefined && (isUncertain || hasErrorName(error, ...MAY_BE_UPDATED))) return MAYBE_UPDATED
  if (!isUncertain) return null
  return starts ? MAYBE_STARTED : MAYBE_DONE
}

/** Whether the engine may have executed the request, although its response was lost. */
function mayBeCarriedOut(error: ServiceError): boolean {
  const { error: name, details } = error
  const isUnknown = name === 'OutcomeUnknownError' || name === 'ResultUnreadableError'
  return isUnknown || (isOutage(error) && details.retryAfterSeconds === undefined)
}

/** The result of a tool that returns this object. */
export function valueResult(value: Record<string, unknown>): CallToolResult {
  return { content: [toText(JSON.stringify(value))], structuredContent: value }
}

function failure(value: Record<string, unknown>): CallToolResult {
  return { ...valueResult(value), isError: true }
}

function toText(text: string): CallToolResult['content'][number] {
  return { type: 'text', text }
}

/** Which part of the text of a long result is returned: hosts show it to the model, whose context is limited. */
export interface TextPart {
  maxBytes: number
  /** In UTF-16 code units. Default: the beginning. */
  offset?: number | undefined
}

/**
 * The result with a part of its text. At the beginning `structuredContent` stays whole, because clients validate it
 * with the schema of the tool.
 */
export function cutResult(result: CallToolResult, { maxBytes, offset = 0 }: TextPart): CallToolResult {
  const text = result.content[0]?.text ?? ''
  const end = endOfPart(text, offset, maxBytes)
  if (offset === 0 && end === text.length) return result
  const part = text.slice(offset, end)
  const { workflowId, runId, status, note } = result.structuredContent
  const notes = [...(note === undefined ? [] : [note]), partNote(text.length, end)]
  const facts = { workflowId, runId, status, note: notes.join(' ') }
  return {
    ...result,
    content: [toText(part), toText(JSON.stringify(facts))],
    structuredContent: offset === 0 ? result.structuredContent : { ...facts, offset, text: part },
  }
}

function partNote(length: number, end: number): string {
  if (end >= length) return `The text of the output ends here, after ${length} characters.`
  return `The text of the output is cut: it has ${length} characters. To read on, call workflow_result with this workflowId, this runId and offset ${end}.`
}

function endOfPart(text: string, offset: number, maxBytes: number): number {
  const rest = text.slice(offset, offset + maxBytes)
  // Never ends within a character.
  return Math.min(offset + new TextEncoder().encodeInto(rest, new Uint8Array(maxBytes)).read, text.length)
}
