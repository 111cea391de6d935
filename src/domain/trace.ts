import { toTraceTree } from '../protocol/trace-tree.ts'
import { type Call, within } from './call.ts'
import type { Catalogs } from './catalog.ts'
import type { Engine } from './engine.ts'
import { ServiceError } from './errors.ts'
import { type Description, type ExecutionRef, isOpen } from './execution.ts'
import { traceOf } from './trace-destination.ts'
import type { FoundTrace, Trace, TracedRun, TraceSource } from './traces.ts'

export interface TracePorts {
  engine: Pick<Engine, 'describe'>
  catalogs: Catalogs
  /** In the order in which they are asked. The last one is the history: it completes what the others have only in part. */
  sources: readonly TraceSource[]
}

// The wire contract's bound for each source.
const SOURCE_TIMEOUT_MS = 3000

/** The trace from the first source that has the run. What stands in the way of one is a warning, and the next one's turn. */
export async function readTrace({ engine, catalogs, sources }: TracePorts, ref: ExecutionRef, call: Call): Promise<Trace> {
  const description = await engine.describe(ref, call)
  const run: TracedRun = { ...description, destinations: async () => (await traceOf(description, catalogs, call))?.destinations ?? {} }
  const history = sources.at(-1)
  const warnings: string[] = []
  for (const source of sources) {
    const found = await find(source, run, call, warnings)
    if (found === null) continue
    const rest = found.whole || history === undefined ? null : await find(history, run, call, warnings)
    const data = toTraceTree([...found.entries, ...(rest?.entries ?? [])])
    if (data !== null)
      return { source: source.name, runId: run.runId, complete: !isOpen(run.status) || data.endedAt !== null, warnings, data }
  }
  throw notAvailable(run, warnings)
}

async function find(source: TraceSource, run: TracedRun, call: Call, warnings: string[]): Promise<FoundTrace | null> {
  try {
    const found = await source.find(run, within(call, SOURCE_TIMEOUT_MS))
    warnings.push(...(found?.warnings ?? []).map((warning) => `${source.name}: ${warning}`))
    return found
  } catch (error) {
    if (call.signal.aborted) throw ended(run, error)
    if (!(error instanceof ServiceError)) throw error
    call.note({ [`${source.name}Trace`]: error.message })
    warnings.push(`${source.name}: ${error.message}`)
    return null
  }
}

/** The client has left, or the service is about to be gone: no source can be asked any more. */
function ended({ workflowId, runId }: Description, cause: unknown): ServiceError {
  return new ServiceError('EngineUnavailableError', `The trace of workflow ${workflowId} was not read to its end.`, {
    cause,
    details: { workflowId, runId, source: 'gateway' },
  })
}

function notAvailable({ workflowId, runId }: Description, warnings: string[]): ServiceError {
  return new ServiceError('TraceNotAvailableError', [`No trace of workflow ${workflowId} can be had.`, ...warnings].join(' '), {
    details: { workflowId, runId },
  })
}
