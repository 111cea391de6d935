import { mapConcurrent } from '../../lib/map-concurrent.ts'
import { isOpen } from '../../protocol/execution.ts'
import type { TraceEntry } from '../../protocol/trace/entry.ts'
import type { TraceMeta } from '../../protocol/trace/trace-meta.ts'
import { toTraceTree } from '../../protocol/trace/tree.ts'
import { type Call, within } from '../call.ts'
import type { Catalogs } from '../catalog/catalogs.ts'
import { TIMEOUT_MS } from '../deadlines.ts'
import type { Engine } from '../engine.ts'
import { ServiceError } from '../errors.ts'
import type { Description, ExecutionRef } from '../execution.ts'
import { inTime } from '../with-deadline.ts'
import { traceOf } from './destinations.ts'
import { type FoundTrace, type Trace, type TracedRun, type TraceSource, tellsEnd } from './trace-source.ts'
import { decodeEntries, maskEntry } from './trace-values.ts'

export interface TracePorts {
  engine: Pick<Engine, 'decode' | 'describe' | 'wait'>
  catalogs: Catalogs
  /** In the order in which they are asked. The last one is the history, which has every run. */
  sources: readonly TraceSource[]
  /** Of the entries of all runs together, as JSON. */
  maxBytes: number
}

const CONCURRENT_RUNS = 8
const MAX_RUNS = 200

/** The trace of a run with its children's, each from the first source that has it. What stands in the way is a warning. */
export async function readTrace(ports: TracePorts, ref: ExecutionRef, call: Call): Promise<Trace> {
  const description = await ports.engine.describe(ref, call)
  const run = toTracedRun(description, ports)
  const warnings = new Set<string>()
  const own = await readRun(ports, run, description.catalog, call, warnings)
  if (own.source === null) throw own.failure ?? notAvailable(description, [...warnings])
  const entries = await withChildren(ports, { ...own, catalog: description.catalog }, call, warnings)
  const decoded = await decodeEntries(entries, ports.engine, call, warnings)
  const data = toTraceTree(decoded)
  if (data === null) throw own.failure ?? notAvailable(description, [...warnings])
  const { runId, status } = description
  return {
    source: own.source,
    runId,
    complete: !isOpen(status) || tellsEnd(run, own.entries),
    warnings: [...warnings],
    data,
  }
}

interface ReadRun {
  /** The first source that has something of the run; null when none has. */
  source: string | null
  entries: TraceEntry[]
  /** Why the history, which has every run, could not be read. */
  failure: ServiceError | null
}

/** One run, from the first source that has all of it, or from all that have something. */
async function readRun(
  ports: TracePorts,
  run: TracedRun,
  catalog: string,
  call: Call,
  warnings: Set<string>,
): Promise<ReadRun> {
  const read: ReadRun = { source: null, entries: [], failure: null }
  for (const source of ports.sources) {
    const found = await find(source, run, call, warnings)
    read.failure = isTransient(found) ? found : null
    if (found === null || found instanceof ServiceError) continue
    read.source ??= source.name
    read.entries.push(...(found.redacted ? found.entries : await masked(found.entries, catalog, ports, call)))
    if (found.whole && toTraceTree(read.entries) !== null) break
  }
  return read
}

async function find(
  source: TraceSource,
  run: TracedRun,
  call: Call,
  warnings: Set<string>,
): Promise<FoundTrace | ServiceError | null> {
  try {
    const found = await source.find(run, within(call, TIMEOUT_MS.traceSource))
    for (const warning of found?.warnings ?? []) warnings.add(`${source.name}: ${warning}`)
    return found
  } catch (error) {
    if (call.signal.aborted) throw interrupted(run, error)
    if (!(error instanceof ServiceError)) throw error
    call.note({ [`${source.name}Trace`]: error.message })
    warnings.add(`${source.name}: ${error.message}`)
    return error
  }
}

/** Values that the worker's own `redact` has not seen are not shown where the catalog says that there is one. */
async function masked(
  entries: TraceEntry[],
  catalog: string,
  { catalogs }: TracePorts,
  call: Call,
): Promise<TraceEntry[]> {
  const { value: published } = await inTime(catalogs.published(catalog), call)
  return published?.redacted ? entries.map(maskEntry) : entries
}

/** The run's entries with those of its children, breadth first, as far as there is room and time. */
async function withChildren(
  ports: TracePorts,
  root: { entries: TraceEntry[]; catalog: string },
  call: Call,
  warnings: Set<string>,
) {
  const entries = [...root.entries]
  let left = ports.maxBytes - sizeOf(entries)
  let runs = 1
  let cut = 0
  const childrenCall = within(call, TIMEOUT_MS.traceChildren)
  const isLate = () => Date.now() >= childrenCall.deadlineAt
  const seen = new Set<string>()
  for (let level = childrenOf(root.entries, root.catalog, seen); level.length > 0; ) {
    const next: Child[] = []
    await mapConcurrent(level, CONCURRENT_RUNS, async (child) => {
      if (runs++ >= MAX_RUNS || left < 0 || isLate()) {
        cut++
        entries.push(truncated(child.entry))
        return
      }
      const run: TracedRun = {
        ...child.run,
        isOpen: !child.ended,
        startedAt: null,
        completedAt: null,
        destinations: async (call) =>
          (await traceOf({ ...child.run, catalog: child.catalog, memo: new Map() }, ports.catalogs, call))
            ?.destinations ?? {},
      }
      const read = await readRun(ports, run, child.catalog, childrenCall, warnings)
      if (read.source === null) entries.push(truncated(child.entry))
      const own = read.entries.map((entry) =>
        entry.id === child.run.runId ? { ...entry, parentId: child.entry.id } : entry,
      )
      left -= sizeOf(own)
      entries.push(...own)
      next.push(...childrenOf(own, child.catalog, seen))
    })
    level = next
  }
  if (cut > 0)
    warnings.add(
      `${cut} child ${cut === 1 ? 'run was' : 'runs were'} not read: nodes with attributes.truncated are incomplete`,
    )
  return entries
}

interface Child {
  run: { workflowId: string; runId: string }
  catalog: string
  /** Of its node in the parent's trace. */
  entry: TraceEntry
  ended: boolean
}

function childrenOf(entries: readonly TraceEntry[], catalog: string, seen: Set<string>): Child[] {
  const nodes = Map.groupBy(
    entries.filter(({ kind }) => kind === 'child_workflow'),
    ({ id }) => id,
  )
  return [...nodes.values()].flatMap((own): Child[] => {
    const attributes = Object.assign({}, ...own.map((entry) => entry.attributes)) as Record<string, unknown>
    const { workflowId, runId, catalog: childCatalog = catalog } = attributes
    const [entry] = own
    if (
      typeof workflowId !== 'string' ||
      typeof runId !== 'string' ||
      typeof childCatalog !== 'string' ||
      !entry ||
      seen.has(runId)
    )
      return []
    seen.add(runId)
    return [
      { run: { workflowId, runId }, catalog: childCatalog, entry, ended: own.some(({ phase }) => phase === 'ended') },
    ]
  })
}

function toTracedRun(description: Description, { engine, catalogs }: TracePorts): TracedRun {
  const { workflowId, runId, status, startedAt, completedAt, pendingSteps, failingTask } = description
  return {
    workflowId,
    runId,
    isOpen: isOpen(status),
    startedAt,
    completedAt,
    ...(pendingSteps && { pendingSteps }),
    ...(failingTask && { failingTask }),
    destinations: async (call) =>
      (await traceOf(description, catalogs, call, () => traceInEnd(description, engine, call)))?.destinations ?? {},
  }
}

/** What the run's end says, where workers of the older generation say it: in its output or its failure. */
async function traceInEnd(run: Description, engine: TracePorts['engine'], call: Call): Promise<TraceMeta | null> {
  const hasEnd = run.status === 'completed' || run.status === 'failed'
  return hasEnd ? ((await engine.wait(run, call))?.trace ?? null) : null
}

/** Says that the node of this entry lacks something. */
export function truncated({ id, parentId, kind, name, at }: TraceEntry): TraceEntry {
  return { id, parentId, kind, name, at, phase: 'began', attributes: { truncated: true } }
}

function sizeOf(entries: readonly TraceEntry[]): number {
  return entries.reduce((sum, entry) => sum + JSON.stringify(entry).length, 0)
}

/** The history is there, and can be read later. */
function isTransient(found: FoundTrace | ServiceError | null): found is ServiceError {
  return (
    found instanceof ServiceError &&
    (found.error === 'EngineUnavailableError' || found.error === 'ResourceExhaustedError')
  )
}

/** The client has left, or the service shuts down: no source can be asked any more. */
function interrupted({ workflowId, runId }: TracedRun, cause: unknown): ServiceError {
  return new ServiceError('EngineUnavailableError', `Reading the trace of workflow ${workflowId} was interrupted.`, {
    cause,
    details: { workflowId, runId, source: 'gateway' },
  })
}

function notAvailable({ workflowId, runId }: Description, warnings: string[]): ServiceError {
  return new ServiceError(
    'TraceNotAvailableError',
    [`No trace is available for workflow ${workflowId}.`, ...warnings].join(' '),
    {
      details: { workflowId, runId },
    },
  )
}
