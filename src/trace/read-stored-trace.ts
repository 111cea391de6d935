/** What readers of stored traces share: from a text to the trace, from a store's trouble to a warning. */
import { ServiceError } from '../domain/errors.ts'
import { type FoundTrace, includesEnd, type TracedRun } from '../domain/trace/trace-source.ts'
import { parseJson } from '../lib/exact-json.ts'
import { type Parsed, parseEntryTexts, readTraceDocument, type TraceDocument } from '../protocol/trace/document.ts'
import type { TraceEntry } from '../protocol/trace/entry.ts'
import { StoreError } from '../store/store-call.ts'
import { entriesOfOlderTree, isOlderTree } from './older-tree.ts'

/** Rejects what is not a trace, or the trace of another run, as `notAvailable`: a stored trace is believed for its own run only. */
export function toFoundTrace(run: TracedRun, namespace: string, text: string): FoundTrace {
  const document = jsonOf(text)
  if (isOlderTree(document)) return fromOlderTree(run, entriesOfOlderTree(document, run))
  const { found, skipped } = documentOf(document)
  if (found.runId !== run.runId || found.workflowId !== run.workflowId || found.namespace !== namespace) {
    throw notAvailable('What is stored there is the trace of another run')
  }
  const warnings = skipped === 0 ? [] : [`${skipped} of the stored entries could not be read`]
  return { entries: found.entries, whole: includesEnd(run, found.entries), redacted: true, warnings }
}

/** Spans that are not archived yet: the history adds everything else. */
export function foundSpans(texts: readonly string[], cutAtBytes: number | null): FoundTrace {
  const { found, skipped } = parseEntryTexts(texts)
  const warnings = [
    ...(skipped === 0 ? [] : [`${skipped} of the spans could not be read`]),
    ...(cutAtBytes === null ? [] : [`there are more than ${cutAtBytes} bytes of spans; the rest is not shown`]),
  ]
  return { entries: found, whole: false, redacted: false, warnings }
}

function fromOlderTree(run: TracedRun, entries: Parsed<TraceEntry[]> | null): FoundTrace {
  if (entries === null) throw notAvailable('What is stored there is the trace of another run')
  const { found, skipped } = entries
  const warnings = skipped === 0 ? [] : [`${skipped} of the stored nodes could not be read`]
  return { entries: found, whole: !run.isOpen && includesEnd(run, found), redacted: true, warnings }
}

function jsonOf(text: string): unknown {
  return orNoTrace(() => parseJson(text))
}

function documentOf(document: unknown): Parsed<TraceDocument> {
  return orNoTrace(() => readTraceDocument(document))
}

function orNoTrace<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof SyntaxError) throw notAvailable('What is stored there is not a trace of this protocol', error)
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
