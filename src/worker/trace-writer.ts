import { createHistoryReader } from '../engine/history.ts'
import type { PayloadReader } from '../engine/payload.ts'
import { MAX_JSON_DEPTH } from '../protocol/json.ts'
import type { RunRef } from '../protocol/run-ref.ts'
import { parseEntryTexts, parseTraceDocument, toTraceDocument } from '../protocol/trace-document.ts'
import type { TraceEntry } from '../protocol/trace-entry.ts'
import { type RootRun, spansKey } from '../protocol/trace-keys.ts'
import { truncated, walkRuns } from '../protocol/trace-walk.ts'
import type { KvStore, ReadList } from '../store/kv.ts'
import type { StoreCall } from '../store/store-call.ts'
import { type EngineCalls, isUnknownRun } from './engine-calls.ts'
import { type Limits, type Redact, toRedacted } from './redact.ts'
import type { TraceTarget } from './trace-targets.ts'
import type { Trouble } from './trouble.ts'

export interface TraceWriterOptions {
  engine: Pick<EngineCalls, 'history'>
  kv: Pick<KvStore, 'readList'>
  targets: readonly TraceTarget[]
  payloads: PayloadReader
  redact: Redact
  /** Of a trace as it is stored. */
  maxBytes: number
  trouble: Trouble
}

// As much as the history has; three levels of JSON are around it in a stored trace.
const HISTORY_LIMITS: Limits = { maxBytes: Number.POSITIVE_INFINITY, maxDepth: MAX_JSON_DEPTH - 3 }

/** What a trace was made of. */
export interface Written {
  /** The spans of runs that have ended. */
  ended: ReadList[]
  /** The spans of runs that are open. */
  open: string[]
}

// As the readers of history have it.
const MAX_RUNS = 1000

/**
 * Writes the trace of a root run to each target: from history and spans, together with what is there already.
 *
 * `newest` is the last link of its chain: where not all of a chain has room, its end has. Rejects when the trace could not be
 * read or written as a whole; the same can be done again at any time.
 */
export async function writeTrace(root: RootRun, newest: RunRef, options: TraceWriterOptions, call: () => StoreCall): Promise<Written> {
  const { targets, maxBytes } = options
  const read = () => Promise.all(targets.map((target) => target.read(root, maxBytes, call().signal)))
  for (let texts = await read(); ; ) {
    const { text, written } = await composeTrace(root, newest, texts, options, call)
    // Whoever has stored it meanwhile has deleted lists: what was in them is there, and in what was read before it is not.
    const now = await read()
    if (now.every((stored, index) => stored === texts[index])) {
      for (const [index, target] of targets.entries()) if (texts[index] !== text) await target.write(root, text, call().signal)
      return written
    }
    texts = now
  }
}

async function composeTrace(
  root: RootRun,
  newest: RunRef,
  texts: readonly (string | null)[],
  { engine, kv, payloads, redact, maxBytes, trouble }: TraceWriterOptions,
  call: () => StoreCall,
): Promise<{ text: string; written: Written }> {
  // What two places hold counts once.
  const stored = byRun(unique(texts.flatMap((text) => (text === null ? [] : storedEntries(text)))))
  const spans = new Map<string, ReadList>()
  const ended = new Set<string>()
  /** For the spans of all runs. */
  let lists = { left: maxBytes }

  async function* historyOf(run: RunRef): AsyncGenerator<TraceEntry> {
    const reader = createHistoryReader(run, payloads)
    for await (const events of engine.history(run)) yield* await reader.entriesOf(events)
  }

  async function* read(run: RunRef): AsyncGenerator<TraceEntry> {
    const known = stored.get(run.runId) ?? []
    let [first] = known
    // The history of a run that has ended changes no more.
    if (hasEnded(run, known)) {
      ended.add(run.runId)
      yield* known
    } else {
      const told = new Set<string>()
      for await (const entry of historyOf(run)) {
        if (hasEnded(run, [entry])) ended.add(run.runId)
        told.add(`${entry.phase} ${entry.id}`)
        first ??= entry
        // The walk goes by its kind, which is one of ours.
        yield { ...toRedacted(entry, redact, HISTORY_LIMITS), kind: entry.kind }
      }
      yield* known.filter(({ id, phase }) => !told.has(`${phase} ${id}`))
    }
    const key = spansKey(run.runId)
    const { values, length } = await kv.readList(key, lists, call())
    spans.set(run.runId, { key, length })
    if (values.length < length) yield* truncated(first)
    const { found, skipped } = parseEntryTexts(values)
    if (skipped > 0) trouble('Spans were left out: they could not be read', { ...run, dropped: skipped })
    yield* found
  }

  for (let room = maxBytes * 0.9; ; room /= 2) {
    lists = { left: maxBytes }
    const { entries, faults } = await walkRuns(newest, { read, firstRunId: root.rootRunId, maxRuns: MAX_RUNS, maxBytes: room })
    // What the engine has forgotten is no reason to lose the rest.
    const fault = faults.find((fault) => !isUnknownRun(fault))
    if (fault !== undefined) throw fault
    const textWith = (more: readonly TraceEntry[]) => toTraceDocument({ ...root, entries: unique([...entries, ...more]) })
    const whole = textWith(unread(stored, spans))
    const text = Buffer.byteLength(whole) > maxBytes ? textWith([]) : whole
    if (Buffer.byteLength(text) > maxBytes && room > 1) continue
    const written = {
      ended: [...spans].filter(([runId]) => ended.has(runId)).map(([, list]) => list),
      open: [...spans].filter(([runId]) => !ended.has(runId)).map(([, { key }]) => key),
    }
    return { text, written }
  }
}

/** What is there of another making is written over. */
function storedEntries(text: string): TraceEntry[] {
  try {
    return parseTraceDocument(text).found.entries
  } catch (error) {
    if (error instanceof SyntaxError) return []
    throw error
  }
}

/** Entries by the run that they tell of; those of the whole chain are made anew each time. */
function byRun(entries: readonly TraceEntry[]): Map<string, TraceEntry[]> {
  return Map.groupBy(
    entries.filter(({ id }) => !id.endsWith(':chain')),
    ({ id }) => id.split(':', 1)[0] ?? '',
  )
}

function hasEnded({ runId }: RunRef, entries: readonly TraceEntry[]): boolean {
  return entries.some(({ id, phase }) => id === runId && phase === 'ended')
}

/** Runs that are in the stored trace and that nothing leads to any more: links that had no room, children before a reset. */
function unread(stored: ReadonlyMap<string, TraceEntry[]>, read: ReadonlyMap<string, unknown>): TraceEntry[] {
  return [...stored].flatMap(([runId, entries]) => (read.has(runId) ? [] : entries))
}

function unique(entries: readonly TraceEntry[]): TraceEntry[] {
  return [...new Map(entries.map((entry) => [JSON.stringify(entry), entry])).values()]
}
