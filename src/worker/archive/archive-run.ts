import { MAX_JSON_DEPTH } from '../../lib/exact-json.ts'
import { parseEntryTexts, parseTraceDocument, toTraceDocument } from '../../protocol/trace/document.ts'
import type { TraceEntry } from '../../protocol/trace/entry.ts'
import type { StoreCall } from '../../store/store-call.ts'
import { createHistoryReader } from '../../temporal/history/reader.ts'
import type { HistoryEvent } from '../../temporal/outcome.ts'
import type { PayloadReader } from '../../temporal/payload-reader.ts'
import type { Warn } from '../tracing/rate-limited-warnings.ts'
import { type Limits, type Redact, toRedacted } from '../tracing/redact.ts'
import type { SpanLists } from '../tracing/span-lists.ts'
import type { TraceTarget } from './destinations.ts'

/** A closed run, as the engine lists it. */
export interface ClosedRun {
  namespace: string
  workflowId: string
  runId: string
}

export interface ArchivePorts {
  /** Pages of the run's history, oldest first; null when the engine has deleted it. */
  history(run: ClosedRun, signal: AbortSignal): Promise<AsyncIterable<HistoryEvent[]> | null>
  spans: SpanLists | null
  targets: readonly TraceTarget[]
  payloads: PayloadReader
  encode: ((entries: readonly TraceEntry[]) => Promise<TraceEntry[]>) | null
  redact: Redact
  /** Of a stored trace, and of the spans that are read for it. */
  maxBytes: number
  warn: Warn
}

// As much as the history has; a stored trace wraps it in three levels of JSON.
const HISTORY_LIMITS: Limits = { maxBytes: Number.POSITIVE_INFINITY, maxDepth: MAX_JSON_DEPTH - 3 }

// Of one answer of a store, retries included.
const STORE_TIMEOUT_MS = 10_000

/**
 * Puts the trace of one closed run into every target and removes its spans from their list. May be done any number of
 * times and by several archivers at once: nothing is lost and nothing is stored twice (`docs/protocol.md`).
 *
 * `isStored` says that it was archived before: then only new spans are a reason to do anything.
 *
 * Rejects when a target could not be written; the others are written all the same, and the spans stay in their list.
 */
export async function archiveRun(
  run: ClosedRun,
  ports: ArchivePorts,
  isStored: boolean,
  signal: AbortSignal,
): Promise<void> {
  const { spans, targets, maxBytes, warn } = ports
  const call = (): StoreCall => ({ signal, deadlineAt: Date.now() + STORE_TIMEOUT_MS })
  let unread: unknown = null
  const list = (await spans?.read(run, maxBytes, call()).catch((error: unknown) => {
    unread = error
    return null
  })) ?? { values: [], complete: true }
  if (isStored && unread === null && list.values.length === 0) return
  const { found: added, skipped } = parseEntryTexts(list.values)
  if (skipped > 0) warn('Spans were left out of a trace: they cannot be read', { ...run, dropped: skipped })

  let fromHistory: Promise<TraceEntry[] | null> | undefined
  const history = () => {
    fromHistory ??= readHistory(run, ports, signal)
    return fromHistory
  }
  const written = await Promise.allSettled(
    targets.map((target) => writeTo(target, run, added, { history, call, maxBytes })),
  )
  const failed = written.find((result) => result.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  // Archived without its spans: they are added by the next attempt.
  if (unread !== null) throw unread
  if (list.values.length > 0) await spans?.trim(run, list.values, call())
}

interface WriteContext {
  history: () => Promise<TraceEntry[] | null>
  call: () => StoreCall
  maxBytes: number
}

async function writeTo(
  target: TraceTarget,
  run: ClosedRun,
  added: readonly TraceEntry[],
  context: WriteContext,
): Promise<void> {
  const { history, call, maxBytes } = context
  // A trace that is there has its history; without new spans there is nothing to add.
  if (added.length === 0 && (await target.has(run, call()))) return
  while (true) {
    const stored = added.length === 0 ? null : await target.read(run, maxBytes, call())
    const before = stored === null ? await history() : storedEntries(stored.text, run)
    // Deleted by the engine's retention before it was archived.
    const entries = before ?? (stored === null ? null : await history())
    if (entries === null) return
    const text = fitted({ ...run, entries: unique([...entries, ...added]) }, maxBytes)
    if (text === stored?.text || (await target.write(run, text, stored?.version ?? null, call()))) return
    // Somebody else has written it meanwhile, with all of the history; without spans of ours that is enough.
    if (added.length === 0) return
  }
}

async function readHistory(run: ClosedRun, { history, payloads, encode, redact }: ArchivePorts, signal: AbortSignal) {
  const pages = await history(run, signal)
  if (pages === null) return null
  const reader = createHistoryReader(run, payloads)
  const entries: TraceEntry[] = []
  for await (const events of pages) entries.push(...(await reader.entriesOf(events)))
  // Kinds are ours.
  const redacted = entries.map((entry) => ({ ...toRedacted(entry, redact, HISTORY_LIMITS), kind: entry.kind }))
  return encode === null ? redacted : encode(redacted)
}

/** Null when what is stored there is not the trace of this run: it is replaced. */
function storedEntries(text: string, { namespace, runId }: ClosedRun): TraceEntry[] | null {
  try {
    const { found } = parseTraceDocument(text)
    return found.runId === runId && found.namespace === namespace ? found.entries : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

function unique(entries: readonly TraceEntry[]): TraceEntry[] {
  return [...new Map(entries.map((entry) => [JSON.stringify(entry), entry])).values()]
}

/** The text of the trace. One that is too large keeps how the run began and ended, and marks the run as truncated. */
function fitted(document: ClosedRun & { entries: TraceEntry[] }, maxBytes: number): string {
  const whole = toTraceDocument(document)
  if (Buffer.byteLength(whole) <= maxBytes) return whole
  const { runId, entries } = document
  const own = entries.filter(({ id }) => id === runId)
  const mark = own
    .slice(0, 1)
    .map(({ input: _, ...rest }) => ({ ...rest, attributes: { ...rest.attributes, truncated: true } }))
  const kept = [...own.map(({ input: _, output: __, ...rest }) => rest), ...mark]
  let left = maxBytes - Buffer.byteLength(toTraceDocument({ ...document, entries: kept }))
  for (const entry of entries) {
    left -= Buffer.byteLength(JSON.stringify(entry)) + 1
    if (left < 0) break
    if (entry.id !== runId) kept.push(entry)
  }
  return toTraceDocument({ ...document, entries: kept })
}
