import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import type { RunRef } from '../protocol/run-ref.ts'
import type { TraceEntry, TraceError } from '../protocol/trace-entry.ts'

/** What is going on inside an activity, as its author tells it. */
export interface Span {
  /** Adds attributes; one that is there already is replaced. */
  set(attributes: Readonly<Record<string, unknown>>): void
  /** What went in; what the function returns is what came out. */
  input(value: unknown): void
}

/** Takes what began and ended in a run; never throws and never waits. */
export type Recorder = (run: RunRef, entry: TraceEntry) => void

interface Place {
  run: RunRef
  /** The step or span around. */
  parentId: string
  record: Recorder
}

const place = new AsyncLocalStorage<Place>()

type Attributes = Readonly<Record<string, unknown>>
type Body<T> = (span: Span) => T | Promise<T>

/**
 * Runs the function and records it in the trace of the run whose activity this is: when it began and ended, what it returned
 * or threw. What it calls, however deep and whatever is awaited at once, nests below it.
 *
 * `kind` is one of `llm`, `http` or any word of yours. Outside of a traced activity the function just runs. Not for workflow
 * code.
 */
export function span<T>(kind: string, name: string, body: Body<T>): Promise<T>
export function span<T>(kind: string, name: string, attributes: Attributes, body: Body<T>): Promise<T>
export function span<T>(kind: string, name: string, given: Attributes | Body<T>, after?: Body<T>): Promise<T> {
  const [attributes, body] = typeof given === 'function' ? [{}, given] : [given, after as Body<T>]
  const around = place.getStore()
  return around === undefined ? runUntold(body) : runRecorded(around, { kind, name }, attributes, body)
}

/** Runs an activity, so that its spans stand below its step. */
export function withSpans<T>(around: Place, activity: () => Promise<T>): Promise<T> {
  return place.run(around, activity)
}

async function runUntold<T>(body: Body<T>): Promise<T> {
  return body({ set() {}, input() {} })
}

async function runRecorded<T>(around: Place, what: Pick<TraceEntry, 'kind' | 'name'>, attributes: Attributes, body: Body<T>): Promise<T> {
  const { run, parentId, record } = around
  const entry = { id: `${run.runId}:span:${randomBytes(8).toString('hex')}`, parentId, ...what }
  const told: { input?: unknown; attributes: Attributes } = { attributes: {} }
  const span: Span = {
    set(more) {
      told.attributes = { ...told.attributes, ...more }
    },
    input(value) {
      told.input = value
    },
  }
  const end = (result: Pick<TraceEntry, 'error' | 'output'>) =>
    record(run, { ...entry, at: Date.now(), phase: 'ended', ...told, ...result })

  record(run, { ...entry, at: Date.now(), phase: 'began', attributes })
  try {
    const output = await place.run({ ...around, parentId: entry.id }, async () => body(span))
    end({ output: output ?? null })
    return output
  } catch (error) {
    end({ error: toldError(error) })
    throw error
  }
}

// As the reader of failures has it.
const MAX_CAUSES = 10

/** What is thrown may be anything, and must reach the caller whatever it is. */
function toldError(error: unknown): TraceError {
  try {
    return toTraceError(error, MAX_CAUSES)
  } catch {
    return { name: 'Error', message: 'What was thrown can not be read', cause: null }
  }
}

function toTraceError(error: unknown, left: number): TraceError {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error), cause: null }
  const { name, message, cause } = error
  return { name, message, cause: cause === undefined || left === 0 ? null : toTraceError(cause, left - 1) }
}
