import { isOpen } from '../../shared/wire/execution.ts'
import type { TraceMeta } from '../../shared/wire/trace/trace-meta.ts'
import { toTraceTree } from '../../shared/wire/trace/tree.ts'
import { readTraceMeta } from '../catalog/catalogs.ts'
import type { Call } from '../model/call.ts'
import type { Engine } from '../model/engine.ts'
import { ServiceError } from '../model/errors.ts'
import { type Description, type OnRun, rejectReserved } from '../model/execution.ts'
import { includesEnd, type Trace, type TracedRun } from '../model/trace-source.ts'
import type { Ports } from '../ports.ts'
import { addChildRuns } from './child-runs.ts'
import { fillGaps } from './fill-gaps.ts'
import { readRun } from './read-run.ts'
import { decodeEntries } from './trace-values.ts'

type TracePorts = Pick<Ports, 'catalogs' | 'engine' | 'traceMaxBytes' | 'traceSources'>

/**
 * Reads the trace of a run with its child runs, each from the first source that has it.
 * Failing sources become warnings.
 */
export async function readTrace(ports: TracePorts, { ref }: OnRun, call: Call): Promise<Trace> {
  const description = await ports.engine.describe(ref, call)
  rejectReserved(description)
  const run = toTracedRun(description, ports)
  const warnings = new Set<string>()
  const root = await readRun(ports, { run, catalog: description.catalog }, call, warnings)
  if (root.source === null) throw root.failure ?? notAvailable(description, [...warnings])
  const read = await addChildRuns(ports, { ...root, catalog: description.catalog }, call, warnings)
  const { entries, rejected } = fillGaps(read.entries, read.older)
  if (rejected > 0) warnings.add(`${rejected} nodes of the stored trace contradict the history and are not shown`)
  const decoded = await decodeEntries(entries, ports.engine, call, warnings)
  const data = toTraceTree(decoded)
  if (data === null) throw root.failure ?? notAvailable(description, [...warnings])
  const { runId, status } = description
  return {
    source: root.source,
    ...(root.localPath !== undefined && { localPath: root.localPath }),
    runId,
    complete: !isOpen(status) || includesEnd(run, root.entries),
    warnings: [...warnings],
    data,
  }
}

function toTracedRun(description: Description, { engine, catalogs }: TracePorts): TracedRun {
  const { workflowId, runId, status, startedAt, completedAt, pendingSteps, failingTask } = description
  const fromClosing = (call: Call) => readClosingTraceMeta(engine, description, call)
  return {
    workflowId,
    runId,
    isOpen: isOpen(status),
    startedAt,
    completedAt,
    ...(pendingSteps && { pendingSteps }),
    ...(failingTask && { failingTask }),
    destinations: async (call) =>
      (await readTraceMeta(description, catalogs, call, () => fromClosing(call)))?.destinations ?? {},
  }
}

/** Workers of the older generation put the location of the trace into the output or failure of the run. */
async function readClosingTraceMeta(engine: Engine, run: Description, call: Call): Promise<TraceMeta | null> {
  const isClosedByWorker = run.status === 'completed' || run.status === 'failed'
  return isClosedByWorker ? ((await engine.wait(run, call))?.trace ?? null) : null
}

function notAvailable({ workflowId, runId }: Description, warnings: string[]): ServiceError {
  const message = [`No trace is available for workflow ${workflowId}.`, ...warnings].join(' ')
  return new ServiceError('TraceNotAvailableError', message, { details: { workflowId, runId } })
}
