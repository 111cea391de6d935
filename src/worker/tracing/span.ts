/** `portico/span`: records spans in activities and Nexus operations. Loads neither the worker nor zod. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import { MAX_CAUSES, type TraceEntry, type TraceError } from '../../shared/wire/trace/entry.ts'

/** Handle of the running span. */
export interface Span {
  /** Adds attributes. Replaces existing attributes of the same name. */
  set(attributes: Readonly<Record<string, unknown>>): void
  /** Sets the input shown in the trace. The output is the function's return value. */
  input(value: unknown): void
}

/** The run that a span belongs to. */
export interface SpanRun {
  namespace: string
  runId: string
}

/** Records an entry of a run. Never throws and never waits. */
export type Recorder = (run: SpanRun, entry: TraceEntry) => void

/** Set for each activity and Nexus operation of a worker that records traces. */
export interface SpanContext {
  run: SpanRun
  /** Id of the enclosing activity, operation or span. */
  parentId: string
  /** Attempt of the activity; null in a Nexus operation. */
  attempt: number | null
  record: Recorder
}

interface Shared {
  contexts: AsyncLocalStorage<SpanContext>
  /** Finds the parent of a span that starts in this context. Set by `portico/otel`, whose spans may enclose it. */
  parentOf?: ((context: SpanContext) => string) | undefined
}

// Shared by all copies of this module in the process: activities may be bundled separately from the worker.
const KEY = Symbol.for('portico.spans')
const shared: Shared = (Reflect.get(globalThis, KEY) as Shared | undefined) ?? { contexts: new AsyncLocalStorage() }
Reflect.set(globalThis, KEY, shared)
const { contexts } = shared

type Attributes = Readonly<Record<string, unknown>>
type Body<T> = (span: Span) => T | Promise<T>

/**
 * Runs a function and records it as a span in the trace of the current workflow run: start and end time, attributes,
 * and the return value or the error thrown. Spans started inside the function become its children, also concurrent
 * ones.
 *
 * `kind` is any string, for example `llm` or `http`. Resolves or rejects like the function. Outside a traced activity
 * or Nexus operation the function runs without being recorded. Cannot be used in workflow code.
 */
export function span<T>(kind: string, name: string, body: Body<T>): Promise<T>
export function span<T>(kind: string, name: string, attributes: Attributes, body: Body<T>): Promise<T>
export function span<T>(kind: string, name: string, given: Attributes | Body<T>, after?: Body<T>): Promise<T> {
  const [attributes, body] = typeof given === 'function' ? [{}, given] : [given, after as Body<T>]
  const context = contexts.getStore()
  return context === undefined ? runUnrecorded(body) : runRecorded(context, { kind, name }, attributes, body)
}

/** The span context of the running activity or Nexus operation; undefined elsewhere. */
export function currentSpanContext(): SpanContext | undefined {
  return contexts.getStore()
}

export function withSpanContext<T>(context: SpanContext, run: () => Promise<T>): Promise<T> {
  return contexts.run(context, run)
}

export function setParentLookup(parentOf: Shared['parentOf']): void {
  shared.parentOf = parentOf
}

export function newSpanId(runId: string): string {
  return `${runId}:span:${randomBytes(8).toString('hex')}`
}

async function runUnrecorded<T>(body: Body<T>): Promise<T> {
  return body({ set() {}, input() {} })
}

async function runRecorded<T>(
  context: SpanContext,
  what: Pick<TraceEntry, 'kind' | 'name'>,
  given: Attributes,
  body: Body<T>,
): Promise<T> {
  const { run, attempt, record } = context
  const parentId = shared.parentOf?.(context) ?? context.parentId
  const entry = { id: newSpanId(run.runId), parentId, ...what }
  const described: { input?: unknown; attributes: Attributes } = { attributes: {} }
  const handle: Span = {
    set(more) {
      described.attributes = { ...described.attributes, ...more }
    },
    input(value) {
      described.input = value
    },
  }
  const end = (result: Pick<TraceEntry, 'error' | 'output'>) =>
    record(run, { ...entry, at: Date.now(), phase: 'ended', ...described, ...result })

  const attributes = attempt === null ? given : { ...given, attempt }
  record(run, { ...entry, at: Date.now(), phase: 'began', attributes })
  try {
    const output = await contexts.run({ ...context, parentId: entry.id }, async () => body(handle))
    end({ output: output ?? null })
    return output
  } catch (error) {
    end({ error: thrownError(error) })
    throw error
  }
}

/** Converts any thrown value for a trace. Never throws. */
function thrownError(error: unknown): TraceError {
  try {
    return toTraceError(error, MAX_CAUSES)
  } catch {
    return { name: 'Error', message: 'The thrown value cannot be read', cause: null }
  }
}

function toTraceError(error: unknown, left: number): TraceError {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error), cause: null }
  const { name, message, cause } = error
  return { name, message, cause: cause === undefined || left === 0 ? null : toTraceError(cause, left - 1) }
}
