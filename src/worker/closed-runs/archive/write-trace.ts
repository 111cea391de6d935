import { sleep } from '../../../shared/lib/abort.ts'
import { retryDelayMs, type StoreCall, StoreError } from '../../../shared/stores/store-call.ts'
import { parseTraceDocument, toTraceDocument } from '../../../shared/wire/trace/document.ts'
import type { TraceEntry } from '../../../shared/wire/trace/entry.ts'
import type { ListedRun } from '../engine.ts'
import type { TraceDestination } from './trace-destination.ts'

export interface WriteContext {
  /** Entries from the run's history; null if the engine has deleted it. */
  history: () => Promise<TraceEntry[] | null>
  /** The entry as it may be stored. Applied to stored entries too: another process may have had other rules. */
  protect: (entry: TraceEntry) => TraceEntry
  call: () => StoreCall
  maxBytes: number
  signal: AbortSignal
}

/**
 * Creates the run's trace at the destination, or adds the spans to the stored one. Rejects if the stored one has
 * changed between each of five reads and writes.
 */
export async function writeTrace(
  destination: TraceDestination,
  run: ListedRun,
  spans: readonly TraceEntry[],
  { history, protect, call, maxBytes, signal }: WriteContext,
): Promise<void> {
  // A stored trace contains the whole history: without new spans it is complete.
  if (spans.length === 0 && (await destination.has(run, call()))) return
  for (let attempt = 0; ; attempt++) {
    const stored = spans.length === 0 ? null : await destination.read(run, maxBytes, call())
    const entries = storedEntries(stored?.text, run) ?? (await history())
    // The engine's retention deleted the run before it was archived.
    if (entries === null) return
    const text = fitTrace({ ...run, entries: unique([...entries, ...spans].map(protect)) }, maxBytes)
    if (text === stored?.text) return
    const isWritten = await destination.write(run, text, stored?.version ?? null, call())
    // If it was not written, another archiver was faster. Its trace also has the whole history; only spans must still
    // be added.
    if (isWritten || spans.length === 0) return
    await pauseAfterConflict(destination, attempt, signal)
  }
}

/** Rejects if there should not be another attempt. */
async function pauseAfterConflict({ name }: TraceDestination, attempt: number, signal: AbortSignal): Promise<void> {
  const conflict = new StoreError(`The trace in ${name} was changed at each attempt`, { retryable: true })
  const delayMs = retryDelayMs(conflict, attempt, Number.POSITIVE_INFINITY)
  if (delayMs === null) throw conflict
  await sleep(delayMs, signal)
  signal.throwIfAborted()
}

/** Null if nothing is stored, or if it is not the trace of this run. */
function storedEntries(text: string | undefined, { namespace, runId }: ListedRun): TraceEntry[] | null {
  if (text === undefined) return null
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

/**
 * The document as JSON of at most `maxBytes`. A larger one is truncated: it keeps how the run began and ended, marks
 * the run with the attribute `truncated`, and drops the latest entries.
 */
export function fitTrace(document: ListedRun & { entries: TraceEntry[] }, maxBytes: number): string {
  const whole = toTraceDocument(document)
  if (Buffer.byteLength(whole) <= maxBytes) return whole
  const { runId, entries } = document
  const ofRun = entries.filter(({ id }) => id === runId)
  const mark = ofRun
    .slice(0, 1)
    .map(({ input: _, ...rest }) => ({ ...rest, attributes: { ...rest.attributes, truncated: true } }))
  const kept = [...ofRun.map(({ input: _, output: __, ...rest }) => rest), ...mark]
  let left = maxBytes - Buffer.byteLength(toTraceDocument({ ...document, entries: kept }))
  for (const entry of entries) {
    left -= Buffer.byteLength(JSON.stringify(entry)) + 1
    if (left < 0) break
    if (entry.id !== runId) kept.push(entry)
  }
  return toTraceDocument({ ...document, entries: kept })
}
