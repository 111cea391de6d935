import type { Call } from './call.ts'
import type { Catalogs } from './catalog.ts'
import type { Engine } from './engine.ts'
import { ServiceError } from './errors.ts'
import type { Description, RunRef, TraceMeta } from './execution.ts'
import { inTime } from './in-time.ts'
import { traceOf } from './trace-destination.ts'
import type { TracedRun } from './traces.ts'

export interface TracedRunPorts {
  engine: Pick<Engine, 'describe' | 'wait'>
  catalogs: Catalogs
}

/** The run, for sources of traces: what has to be asked for is asked once it is needed, within the time of who needs it. */
export function toTracedRun(description: Description, ports: TracedRunPorts): TracedRun {
  let root: Description | undefined
  let destinations: TraceMeta['destinations'] | undefined
  const rootOf = async (call: Call) => {
    root ??= await climb(description, ports, call)
    return root
  }
  return {
    ...description,
    root: rootOf,
    async destinations(call) {
      if (destinations !== undefined) return destinations
      const top = await rootOf(call)
      const trace = await traceOf({ ...top, parent: null }, ports.catalogs, call, () => traceInEnd(top, ports.engine, call))
      destinations = trace?.destinations ?? {}
      return destinations
    },
  }
}

/** What the run's end says, where workers of the older generation say it: in its output or its failure. */
async function traceInEnd(run: Description, engine: TracedRunPorts['engine'], call: Call): Promise<TraceMeta | null> {
  const hasEnd = run.status === 'completed' || run.status === 'failed'
  return hasEnd ? ((await engine.wait(run, call))?.trace ?? null) : null
}

// As the workers have it: as deep as anybody has nested children.
const MAX_PARENTS = 100

/** The topmost run that workers with traces have led to; they tell children in it. */
async function climb(run: Description, { engine, catalogs }: TracedRunPorts, call: Call): Promise<Description> {
  let root = run
  for (let left = MAX_PARENTS; root.parent !== null && left > 0; left--) {
    const above = await describeOrNull(engine, root.parent, call)
    const records = above !== null && (await inTime(catalogs.published(above.catalog), call)).value?.traces
    if (!records) break
    root = above
  }
  return root
}

/** Null for a run that the engine has forgotten, or that is not of this namespace. */
async function describeOrNull(engine: TracedRunPorts['engine'], run: RunRef, call: Call): Promise<Description | null> {
  try {
    return await engine.describe(run, call)
  } catch (error) {
    if (error instanceof ServiceError && error.error === 'WorkflowNotFoundError') return null
    throw error
  }
}
