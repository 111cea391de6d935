import type { TraceEntry } from '../protocol/trace-entry.ts'
import { toTraceTree } from '../protocol/trace-tree.ts'
import type { Call } from './call.ts'
import type { Engine } from './engine.ts'
import { ServiceError } from './errors.ts'
import { type Description, type ExecutionRef, isOpen } from './execution.ts'
import type { Trace, TraceSource } from './traces.ts'

// The wire contract's bound for each source.
const SOURCE_TIMEOUT_MS = 3000

/** The trace from the first source that has the run. What stands in the way of one is a warning, and the next one's turn. */
export async function readTrace(engine: Engine, sources: readonly TraceSource[], ref: ExecutionRef, call: Call): Promise<Trace> {
  const run = await engine.describe(ref, call)
  const warnings: string[] = []
  for (const source of sources) {
    const entries = await find(source, run, call, warnings)
    const data = entries === null ? null : toTraceTree(entries)
    if (data !== null) return { source: source.name, runId: run.runId, complete: !isOpen(run.status), warnings, data }
  }
  throw notAvailable(run, warnings)
}

async function find(source: TraceSource, run: Description, call: Call, warnings: string[]): Promise<TraceEntry[] | null> {
  try {
    return (await source.find(run, { ...call, deadlineAt: Date.now() + SOURCE_TIMEOUT_MS }))?.entries ?? null
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    warnings.push(`${source.name}: ${error.message}`)
    return null
  }
}

function notAvailable({ workflowId, runId }: Description, warnings: string[]): ServiceError {
  return new ServiceError('TraceNotAvailableError', [`No trace of workflow ${workflowId} can be had.`, ...warnings].join(' '), {
    details: { workflowId, runId },
  })
}
