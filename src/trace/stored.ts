/** What readers of stored traces share: from a text to the trace, from a store's trouble to a warning. */
import { ServiceError } from '../domain/errors.ts'
import { isOpen } from '../domain/execution.ts'
import { type FoundTrace, type RootRun, type TracedRun, tellsEnd } from '../domain/traces.ts'
import { parseJson } from '../protocol/json.ts'
import { type Parsed, readTraceDocument, type TraceDocument } from '../protocol/trace-document.ts'
import type { TraceEntry } from '../protocol/trace-entry.ts'
import { StoreError } from '../store/store-call.ts'
import { entriesOfOlderTree, isOlderTree } from './older-tree.ts'

/** Null when nothing of the run is told there. Rejects what is no trace, or that of another root, as `notAvailable`. */
export function toFoundTrace(run: TracedRun, root: RootRun, text: string): FoundTrace | null {
  const document = jsonOf(text)
  if (isOlderTree(document)) return fromOlderTree(run, entriesOfOlderTree(document, run))
  const { found, skipped } = documentOf(document)
  if (found.workflowId !== root.workflowId) throw notAvailable('What is stored there is the trace of another workflow')
  const warnings = skipped === 0 ? [] : [`${skipped} of the stored entries could not be read`]
  if (root.firstRunId === run.firstRunId) {
    return { entries: found.entries, whole: !isOpen(run.status) && tellsEnd(run, found.entries), warnings }
  }
  const entries = below(run.runId, found.entries)
  // Whether that is all links of its chain, and how they stand together, the history says.
  return entries.length === 0 ? null : { entries, whole: false, warnings }
}

/** Of its root's trace what is told of a child: its run, the other links of its chain, and all below them. */
function below(runId: string, entries: readonly TraceEntry[]): TraceEntry[] {
  const itself = entries.find(({ id }) => id === runId)
  if (itself === undefined) return []
  const byParent = Map.groupBy(entries, ({ parentId }) => parentId)
  const found: TraceEntry[] = (byParent.get(itself.parentId) ?? []).map((entry) => ({ ...entry, parentId: null }))
  // It grows while it is walked.
  for (const { id } of found) {
    for (const entry of byParent.get(id) ?? []) found.push(entry)
    byParent.delete(id)
  }
  return found
}

function fromOlderTree(run: TracedRun, entries: Parsed<TraceEntry[]> | null): FoundTrace {
  if (entries === null) throw notAvailable('What is stored there is the trace of another run')
  const { found, skipped } = entries
  const warnings = skipped === 0 ? [] : [`${skipped} of the stored nodes could not be read`]
  return { entries: found, whole: !isOpen(run.status) && tellsEnd(run, found), warnings }
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
