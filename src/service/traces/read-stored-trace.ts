/** Shared by the readers of stored traces: parsing, and errors that become warnings of the response. */

import { parseLenientJson } from '../../shared/lib/json.ts'
import { StoreError } from '../../shared/stores/store-call.ts'
import { parseEntries, readTraceDocument } from '../../shared/wire/trace/document.ts'
import { ServiceError } from '../model/errors.ts'
import { type FoundTrace, includesEnd, type TracedRun } from '../model/trace-source.ts'
import { entriesOfOlderTree, isNamedByWorkflowId, isOlderTree, type OlderTree } from './older-tree.ts'

/** The namespace whose traces are read. */
export interface OwnNamespace {
  namespace: string
  /** Whether the service has no other namespace. */
  isOnlyNamespace: boolean
}

/** Parses a stored trace. Throws `notAvailable` for anything else, and for the trace of another run. */
export function toFoundTrace(run: TracedRun, own: OwnNamespace, json: string): FoundTrace {
  const document = orNotAvailable(() => parseLenientJson(json))
  if (isOlderTree(document)) return fromOlderTree(document, run, own)
  const { found, skipped } = orNotAvailable(() => readTraceDocument(document))
  if (found.runId !== run.runId || found.workflowId !== run.workflowId || found.namespace !== own.namespace) {
    throw notAvailable('The stored trace belongs to another run')
  }
  const warnings = skipped === 0 ? [] : [`${skipped} of the stored entries could not be read`]
  return { entries: found.entries, whole: includesEnd(run, found.entries), warnings }
}

/** Spans that are not archived yet; the history has the rest. `truncatedAt`: only so many bytes were read. */
export function toFoundSpans(list: readonly string[], truncatedAt: number | null): FoundTrace {
  const { found, skipped } = parseEntries(list)
  const warnings = [
    ...(skipped === 0 ? [] : [`${skipped} of the spans could not be read`]),
    ...(truncatedAt === null ? [] : [`the spans are larger than ${truncatedAt} bytes; the rest is not shown`]),
  ]
  return { entries: found, whole: false, warnings }
}

function fromOlderTree(tree: OlderTree, run: TracedRun, { isOnlyNamespace }: OwnNamespace): FoundTrace {
  if (!isOnlyNamespace && isNamedByWorkflowId(tree, run))
    throw notAvailable(
      'The stored trace names its workflow id but not its run, so it may be the trace of a run in another namespace',
    )
  const entries = entriesOfOlderTree(tree, run)
  if (entries === null) throw notAvailable('The stored trace belongs to another run')
  const { found, skipped } = entries
  const warnings = skipped === 0 ? [] : [`${skipped} of the stored nodes could not be read`]
  return { entries: found, whole: false, fillsGaps: true, warnings }
}

function orNotAvailable<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof SyntaxError) throw notAvailable('The stored data is not a Portico trace', error)
    throw error
  }
}

/** For `catch`: turns a `StoreError` into `notAvailable`. */
export function rethrowStoreError(error: unknown): never {
  if (error instanceof StoreError) throw notAvailable(error.message, error)
  throw error
}

/** `reason` becomes a warning of the response, so it must not reveal anything internal. */
export function notAvailable(reason: string, cause?: unknown): ServiceError {
  return new ServiceError('TraceNotAvailableError', reason, { cause })
}

/** For a destination that may not be read. */
export function notAllowed(reason: string): ServiceError {
  return notAvailable(`The trace destination is not allowed: ${reason}`)
}
