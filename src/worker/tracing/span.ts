/** `portico/span`: spans inside activities and Nexus operations. Loads neither the worker nor zod. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import { MAX_CAUSES, type TraceEntry, type TraceError } from '../../protocol/trace/entry.ts'

/** What happens inside an activity, as its author describes it. */
export interface Span {
  /** Adds attributes; an attribute of the same name is replaced. */
  set(attributes: Readonly<Record<string, unknown>>): void
  /** The input to show; the output is what the function returns. */
  input(value: unknown): void
}

/** The run that a span belongs to. */
export interface SpanRun {
  namespace: string
  runId: string
}

/** Takes an entry of a run; never throws and never waits. */
export type Recorder = (run: SpanRun, entry: TraceEntry) => void

/** Where spans are recorded: set for each activity and Nexus operation of a worker with traces. */
export interface SpanContext {
  run: SpanRun
  /** The step, operation or span around. */
  parentId: string
  /** Attempt of the activity; null for a Nexus operation. */
  attempt: number | null
  record: Recorder
}

interface Shared {
  contexts: AsyncLocalStorage<SpanContext>
  /** The node below which a span belongs that begins in this context: asked where another kind of span may be around it. */
  parentOf?: ((context: SpanContext) => string) | undefined
}

// One for all copies of this module in the process: activities may be bundled apart from the worker.
const KEY = Symbol.for('portico.spans')
const shared: Shared = (Reflect.get(globalThis, KEY) as Shared | undefined) ?? { contexts: new AsyncLocalStorage() }
Reflect.set(globalThis, KEY, shared)
const { contexts } = shared

type Attributes = Readonly<Record<string, unknown>>
type Body<T> = (span: Span) => T | Promise<T>

/**
 * Runs the function and records it in the trace of the current run: when it began and ended, what it returned or threw.
 * Spans inside it, however deep and however concurrent, are nested below it.
 *
 * `kind` is `llm`, `http` or any other word. Outside of a traced activity or Nexus operation the function just runs.
 * Not for workflow code.
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

/** Whatever was thrown, as a trace shows it; never throws itself. */
export function thrownError(error: unknown): TraceError {
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
