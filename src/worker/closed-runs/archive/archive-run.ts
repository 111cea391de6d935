import { MAX_JSON_DEPTH } from '../../../shared/lib/json.ts'
import type { StoreCall } from '../../../shared/stores/store-call.ts'
import { createHistoryReader } from '../../../shared/temporal/history/reader.ts'
import type { PayloadReader } from '../../../shared/temporal/payload.ts'
import { parseEntries } from '../../../shared/wire/trace/document.ts'
import type { TraceEntry } from '../../../shared/wire/trace/entry.ts'
import { redactEntry } from '../../../shared/wire/trace/mask-entry.ts'
import type { Warn } from '../../tracing/rate-limited-warnings.ts'
import { type Redact, toRedacted, type ValueLimits } from '../../tracing/redact.ts'
import type { SpanLists } from '../../tracing/span-lists.ts'
import type { ClosedRunsEngine, ListedRun } from '../engine.ts'
import { protectEntry } from '../protect-entry.ts'
import type { KnownOfRun } from '../scan-loop.ts'
import type { TraceDestination } from './trace-destination.ts'
import { writeTrace } from './write-trace.ts'

export interface ArchivePorts extends Pick<ClosedRunsEngine, 'history'> {
  spans: SpanLists | null
  destinations: readonly TraceDestination[]
  payloads: PayloadReader
  encode: ((entries: readonly TraceEntry[]) => Promise<TraceEntry[]>) | null
  redact: Redact
  /** The task queue whose own `redact` it is; null if this process has none. */
  redactedBy: string | null
  /** The task queue whose runs are archived. */
  catalog: string
  /** Limits a stored trace, and the spans that are read for it. */
  maxBytes: number
  warn: Warn
}

// The history limits its own size. A stored trace adds three levels of JSON around its values.
const HISTORY_LIMITS: ValueLimits = { maxBytes: Number.POSITIVE_INFINITY, maxDepth: MAX_JSON_DEPTH - 3 }

// One call to a store, including its retries.
const STORE_TIMEOUT_MS = 10_000

/**
 * Writes the trace of one closed run to every destination and removes its spans from their list. Idempotent, and safe
 * to run on several archivers at once (`docs/protocol.md`).
 *
 * A run that was archived before is archived again only if it has new spans.
 *
 * Rejects if a destination could not be written to. The other destinations are still written, and the spans stay in
 * their list.
 */
export async function archiveRun(
  run: ListedRun,
  ports: ArchivePorts,
  { isStored, isCatalogRedacted }: KnownOfRun,
  signal: AbortSignal,
): Promise<void> {
  const { spans, destinations, maxBytes, warn } = ports
  const call = (): StoreCall => ({ signal, deadlineAt: Date.now() + STORE_TIMEOUT_MS })
  let readError: unknown = null
  const list = (await spans?.read(run, maxBytes, call()).catch((error: unknown) => {
    readError = error
    return null
  })) ?? { values: [], complete: true }
  if (isStored && readError === null && list.values.length === 0) return
  const { found, skipped } = parseEntries(list.values)
  if (skipped > 0) warn('Invalid spans were left out of a trace', { ...run, dropped: skipped })

  // Other programs may have appended them as they are.
  const added = found.map(redactEntry)

  let fromHistory: Promise<TraceEntry[] | null> | undefined
  const history = () => {
    fromHistory ??= readHistory(run, ports, signal)
    return fromHistory
  }
  const protect = (entry: TraceEntry) => protectEntry(entry, { ...ports, isCatalogRedacted, limits: HISTORY_LIMITS })
  const written = await Promise.allSettled(
    destinations.map((destination) =>
      writeTrace(destination, run, added, { history, protect, call, maxBytes, signal }),
    ),
  )
  const failed = written.find((result) => result.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  // The run is archived without its spans; the next attempt adds them.
  if (readError !== null) throw readError
  if (list.values.length > 0) await spans?.trim(run, list.values, call())
}

async function readHistory(run: ListedRun, ports: ArchivePorts, signal: AbortSignal): Promise<TraceEntry[] | null> {
  const { history, payloads, encode, redact, redactedBy, catalog } = ports
  const pages = await history(run, signal)
  if (pages === null) return null
  const reader = createHistoryReader(run, payloads)
  const entries: TraceEntry[] = []
  for await (const events of pages) entries.push(...(await reader.entriesOf(events)))
  const mark = redactedBy === catalog ? { redacted: catalog } : {}
  // Unlike the kinds of spans, these come from a fixed list.
  const redacted = entries.map((entry) => ({ ...toRedacted(entry, redact, HISTORY_LIMITS), kind: entry.kind, ...mark }))
  return encode === null ? redacted : encode(redacted)
}
