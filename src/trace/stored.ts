/** What readers of stored traces share: from a text to the trace, from a store's trouble to a warning. */
import { ServiceError } from '../domain/errors.ts'
import { isOpen } from '../domain/execution.ts'
import { type FoundTrace, type TracedRun, tellsEnd } from '../domain/traces.ts'
import { parseTraceDocument } from '../protocol/trace-document.ts'
import { StoreError } from '../store/store-call.ts'

/** Rejects what is no trace, or the trace of another workflow, as `notAvailable`. */
export function toFoundTrace(run: TracedRun, text: string): FoundTrace {
  const { found, skipped } = parsed(text)
  if (found.workflowId !== run.workflowId) throw notAvailable('What is stored there is the trace of another workflow')
  return {
    entries: found.entries,
    whole: !isOpen(run.status) && tellsEnd(run, found.entries),
    warnings: skipped === 0 ? [] : [`${skipped} of the stored entries could not be read`],
  }
}

function parsed(text: string) {
  try {
    return parseTraceDocument(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw notAvailable('What is stored there is no trace of this protocol', error)
    throw error
  }
}

/** The store's trouble in the house's words; anything else stays what it is. */
export function inWords(error: unknown): never {
  if (error instanceof StoreError) throw notAvailable(error.message, error)
  throw error
}

/** `reason` becomes a warning of the answer: nothing of ours may stand in it. */
export function notAvailable(reason: string, cause?: unknown): ServiceError {
  return new ServiceError('TraceNotAvailableError', reason, { cause })
}
