import type { TraceEntry } from '../protocol/trace-entry.ts'
import { type TraceNode, toTraceTree } from '../protocol/trace-tree.ts'
import { type Call, within } from './call.ts'
import { ServiceError } from './errors.ts'
import { type Description, type ExecutionRef, isOpen } from './execution.ts'
import { type TracedRunPorts, toTracedRun } from './traced-run.ts'
import { type FoundTrace, type Trace, type TracedRun, type TraceSource, tellsEnd } from './traces.ts'

export interface TracePorts extends TracedRunPorts {
  /** In the order in which they are asked. The last one is the history, which has every run. */
  sources: readonly TraceSource[]
}

// The wire contract's bound for each source.
const SOURCE_TIMEOUT_MS = 3000

/**
 * The trace from the first source that has the run, completed from the next ones while it is a part. What stands in the way of
 * one is a warning, and the next one's turn.
 */
export async function readTrace(ports: TracePorts, ref: ExecutionRef, call: Call): Promise<Trace> {
  const run = toTracedRun(await ports.engine.describe(ref, call), ports)
  const warnings: string[] = []
  let first: string | null = null
  let entries: TraceEntry[] = []
  let data: TraceNode | null = null
  let trouble: ServiceError | null = null
  for (const source of ports.sources) {
    const found = await find(source, run, call, warnings)
    trouble = found instanceof ServiceError ? found : null
    if (found === null || found instanceof ServiceError) continue
    first ??= source.name
    entries = entries.concat(found.entries)
    data = found.whole ? toTraceTree(entries) : null
    if (data !== null) break
  }
  data ??= toTraceTree(entries)
  if (first === null || data === null) throw isPassing(trouble) ? trouble : notAvailable(run, warnings)
  const { runId, status } = run
  return { source: first, runId, complete: !isOpen(status) || tellsEnd(run, entries), warnings, data }
}

/** What stands in the way is told to the reader, and returned. */
async function find(source: TraceSource, run: TracedRun, call: Call, warnings: string[]): Promise<FoundTrace | ServiceError | null> {
  try {
    const found = await source.find(run, within(call, SOURCE_TIMEOUT_MS))
    warnings.push(...(found?.warnings ?? []).map((warning) => `${source.name}: ${warning}`))
    return found
  } catch (error) {
    if (call.signal.aborted) throw ended(run, error)
    if (!(error instanceof ServiceError)) throw error
    call.note({ [`${source.name}Trace`]: error.message })
    warnings.push(`${source.name}: ${error.message}`)
    return error
  }
}

/** The history is there, and can be had later. */
function isPassing(trouble: ServiceError | null): trouble is ServiceError {
  return trouble?.error === 'EngineUnavailableError' || trouble?.error === 'ResourceExhaustedError'
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
