import type { TraceTemplates } from '../protocol/catalog.ts'
import { fillTemplate } from '../protocol/trace-template.ts'
import type { Call } from './call.ts'
import type { Catalogs } from './catalog.ts'
import { ServiceError } from './errors.ts'
import type { Description, TraceMeta } from './execution.ts'
import { inTime } from './in-time.ts'
import { toTraceMeta } from './trace-meta.ts'

type Run = Pick<Description, 'catalog' | 'firstRunId' | 'memo' | 'parent' | 'workflowId'>

/**
 * Where the run's trace is written: as its catalog computes it, else as the run's memo says, else as `fromEnd` says, which is
 * asked only then.
 */
export async function traceOf(
  run: Run,
  catalogs: Catalogs,
  call: Call,
  fromEnd: () => Promise<TraceMeta | null> = async () => null,
): Promise<TraceMeta | null> {
  // A child's story is told in its root's trace.
  if (run.parent !== null) return null
  const { value: published } = await inTime(catalogs.published(run.catalog), call)
  if (published?.traces != null) return fillTemplates(published.traces, run)
  return toTraceMeta(run.memo.get('trace')) ?? (await fromEnd())
}

/** The same for an answer of which it is the least: the rest is not refused for it. */
export async function traceOrNull(run: Run, catalogs: Catalogs, call: Call): Promise<TraceMeta | null> {
  try {
    return await traceOf(run, catalogs, call)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    call.note({ traceUnknown: error.message })
    return null
  }
}

/** The destinations that the catalog's templates name for a root run. */
export async function fillTemplates(
  templates: TraceTemplates,
  { workflowId, firstRunId: rootRunId }: Pick<Run, 'firstRunId' | 'workflowId'>,
): Promise<TraceMeta | null> {
  if (templates === false) return null
  const { local, remote } = templates
  const values = { workflowId, rootRunId }
  return {
    destinations: {
      ...(local === undefined ? {} : { local: await fillTemplate(local, values) }),
      ...(remote === undefined ? {} : { remote: await fillTemplate(remote, values) }),
    },
  }
}
