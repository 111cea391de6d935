/** Sources with parts of a trace. */
import { ServiceError } from '../../../../src/service/model/errors.ts'
import type { Description } from '../../../../src/service/model/execution.ts'
import type { FoundTrace, TraceSource } from '../../../../src/service/model/trace-source.ts'
import { readTrace } from '../../../../src/service/traces/read-trace.ts'
import type { TraceEntry } from '../../../../src/shared/wire/trace/entry.ts'
import { aCall } from '../../call.ts'
import { aDescription, anEngine, makeCatalogs } from '../catalog-fixture.ts'

export const RUN: TraceEntry = { id: 'run-1', parentId: null, kind: 'workflow', name: 'order', at: 1, phase: 'began' }

export const SPAN: TraceEntry = {
  id: 'span-1',
  parentId: 'run-1',
  kind: 'llm',
  name: 'summarise',
  at: 2,
  phase: 'began',
}

export const FOUND: FoundTrace = { entries: [RUN], whole: true, warnings: [] }

export function source(name: string, find: TraceSource['find']): TraceSource {
  return { name, find }
}

export const has = (name: string) => source(name, async () => FOUND)

export const hasNot = (name: string) => source(name, async () => null)

export const fails = (name: string) =>
  source(name, () => Promise.reject(new ServiceError('EngineError', `${name} is away`)))

export function ports(sources: TraceSource[], description: Partial<Description> = {}) {
  return {
    engine: anEngine({ describe: async () => aDescription(description) }),
    catalogs: makeCatalogs().catalogs,
    traceSources: sources,
    traceMaxBytes: 1 << 20,
  }
}

export function trace(sources: TraceSource[], description: Partial<Description> = {}) {
  return readTrace(ports(sources, description), { ref: { workflowId: 'orders-17' } }, aCall())
}

/** A source that has these runs. */
export function holds(runs: Record<string, TraceEntry[]>, more: Partial<FoundTrace> = {}): TraceSource {
  return source('history', async ({ runId }) => (runs[runId] ? { ...FOUND, ...more, entries: runs[runId] } : null))
}
