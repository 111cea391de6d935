/** An outbox over a store in memory, an engine of literal runs and one place to write to; each answer may take its time. */
import { vi } from 'vitest'
import { createPayloads, toPayload } from '../../../src/engine/payload.ts'
import { parseTraceDocument } from '../../../src/protocol/trace-document.ts'
import { type RootRun, toOutboxMember } from '../../../src/protocol/trace-keys.ts'
import type { KvStore } from '../../../src/store/kv.ts'
import type { EngineCalls, RunFacts } from '../../../src/worker/engine-calls.ts'
import { createMemoryKv } from '../../../src/worker/memory-kv.ts'
import { createTraceOutbox } from '../../../src/worker/trace-outbox.ts'
import type { TraceTarget } from '../../../src/worker/trace-targets.ts'

export const ROOT = { workflowId: 'w', rootRunId: 'r1', catalog: 'c' }
export const SECOND = 1000
export const DAY = 24 * 3600 * SECOND
export const call = { signal: new AbortController().signal, deadlineAt: Number.POSITIVE_INFINITY }

const OUTBOX = 'traces:open:default:c'

export interface Run extends RunFacts {
  nextRunId: string | null
  /** The run that it was made of by a reset. */
  baseRunId?: string
  /** Of a workflow whose id is `x`. */
  childRunId?: string
  output?: unknown
}

export function open(runId: string, workflowId = 'w'): Run {
  return { workflowId, runId, firstRunId: 'r1', catalog: 'c', parent: null, isOpen: true, closedAt: null, nextRunId: null }
}

export function ended(runId: string, nextRunId: string | null = null, workflowId = 'w'): Run {
  return { ...open(runId, workflowId), isOpen: false, closedAt: Date.now() - 60 * SECOND, nextRunId }
}

export function span(runId: string, name = 'a', input = ''): string {
  const entry = { id: `${runId}:span:${name}`, parentId: `${runId}:step:1`, kind: 'llm', name, at: 1, phase: 'began' }
  return JSON.stringify(input === '' ? entry : { ...entry, input })
}

export async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms)
}

/** What several workers share. */
export interface Stores {
  kv: KvStore
  /** By root. */
  texts: Map<string, string>
}

export function makeStores(): Stores {
  return { kv: createMemoryKv({ maxBytes: 1 << 24, dropped: () => {} }), texts: new Map() }
}

interface OutboxOptions {
  maxBytes?: number
  stores?: Stores
  /** Places that hold the same. */
  places?: number
  /** Of each answer of the store, the place and the history. */
  latencyMs?: number
}

/** As the histories of these runs tell them, the last one of an id being its latest. */
export function makeOutbox(runs: Run[], { maxBytes = 1 << 20, stores = makeStores(), places = 1, latencyMs = 0 }: OutboxOptions = {}) {
  const troubles: string[] = []
  const written: string[] = []
  const { kv, texts } = stores
  let writing = async () => {}
  const late = async <T>(act: () => Promise<T>): Promise<T> => {
    if (latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, latencyMs))
    return act()
  }
  const engine = engineOf(runs, () => late(async () => {}))
  const outbox = createTraceOutbox({
    engine,
    kv: {
      ...kv,
      readList: (...args) => late(() => kv.readList(...args)),
      settle: (...args) => late(() => kv.settle(...args)),
    },
    namespace: 'default',
    catalog: 'c',
    payloads: createPayloads({ codec: null, maxBytes: Number.POSITIVE_INFINITY }),
    redact: (_path, value) => value,
    maxBytes,
    trouble: (what) => troubles.push(what),
    targets: Array(places).fill({
      read: (root: RootRun) => late(async () => texts.get(root.rootRunId) ?? null),
      write: (root: RootRun, whole: string) =>
        late(async () => {
          await writing()
          written.push(root.rootRunId)
          texts.set(root.rootRunId, whole)
        }),
    } satisfies TraceTarget),
  })
  const text = ({ rootRunId }: RootRun = ROOT) => texts.get(rootRunId) ?? ''
  return {
    outbox,
    kv,
    engine,
    troubles,
    /** Roots, each time they were written. */
    written,
    text,
    stored: (root?: RootRun) => (text(root) === '' ? null : parseTraceDocument(text(root)).found.entries),
    isWaiting: (root: RootRun = ROOT) => kv.isWaiting('none', { outbox: OUTBOX, member: toOutboxMember(root) }, call),
    async dueIn(ms: number) {
      await pass(ms)
      return (await kv.due(OUTBOX, 100, call)).length > 0
    },
    whileWriting(act: () => Promise<void>) {
      writing = act
    },
  }
}

function engineOf(runs: Run[], answer: () => Promise<void>): EngineCalls {
  const at = { eventTime: { seconds: 1_700_000_000 } }
  return {
    describe: async ({ workflowId, runId }) =>
      runs.findLast((run) => run.workflowId === workflowId && (runId === undefined || run.runId === runId)) ?? null,
    openRuns: async () => new Map(runs.filter(({ isOpen }) => isOpen).map(({ workflowId, runId }) => [workflowId, runId])),
    nextRunId: async () => null,
    recordsTraces: async () => true,
    async *history({ runId }) {
      await answer()
      const run = runs.find((run) => run.runId === runId)
      const before = runs.find((run) => run.nextRunId === runId)
      const began = { workflowType: { name: 'story' }, continuedExecutionRunId: before?.runId ?? '' }
      yield [{ ...at, eventId: 1, workflowExecutionStartedEventAttributes: began }] as never
      if (run?.baseRunId) yield [{ ...at, eventId: 2, workflowTaskFailedEventAttributes: { baseRunId: run.baseRunId } }] as never
      if (run?.childRunId) {
        const [workflowExecution, workflowType] = [{ workflowId: 'x', runId: run.childRunId }, { name: 'child' }]
        yield [
          { ...at, eventId: 5, startChildWorkflowExecutionInitiatedEventAttributes: { workflowId: 'x', workflowType } },
          { ...at, eventId: 6, childWorkflowExecutionStartedEventAttributes: { initiatedEventId: 5, workflowExecution } },
        ] as never
      }
      if (run?.isOpen) return
      const end = run?.nextRunId
        ? { workflowExecutionContinuedAsNewEventAttributes: { newExecutionRunId: run.nextRunId } }
        : { workflowExecutionCompletedEventAttributes: { result: { payloads: [toPayload(run?.output)] } } }
      yield [{ ...at, eventId: 3, ...end }] as never
    },
  }
}
