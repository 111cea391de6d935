import type { TraceTemplates } from '../../protocol/catalog.ts'
import { fillTemplate } from '../../protocol/trace/template.ts'
import type { TraceMeta } from '../../protocol/trace/trace-meta.ts'
import { toTraceMeta } from '../../protocol/trace/trace-meta.ts'
import type { Call } from '../call.ts'
import type { Catalogs } from '../catalog/catalogs.ts'
import { ServiceError } from '../errors.ts'
import type { Description } from '../execution.ts'
import { inTime } from '../with-deadline.ts'

type Run = Pick<Description, 'catalog' | 'memo' | 'runId'>

/**
 * Where the trace of the run is archived: as its catalog says, else as the run's memo says, else as `fromEnd` says, which is
 * asked only then.
 */
export async function traceOf(
  run: Run,
  catalogs: Catalogs,
  call: Call,
  fromEnd: () => Promise<TraceMeta | null> = async () => null,
): Promise<TraceMeta | null> {
  const { value: published } = await inTime(catalogs.published(run.catalog), call)
  if (published?.traces != null) return fillTemplates(published.traces, run, catalogs.namespace)
  return toTraceMeta(run.memo.get('trace')) ?? (await fromEnd())
}

/** The same for an answer that is not refused when it cannot be known. */
export async function traceOrNull(run: Run, catalogs: Catalogs, call: Call): Promise<TraceMeta | null> {
  try {
    return await traceOf(run, catalogs, call)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    call.note({ traceUnknown: error.message })
    return null
  }
}

/** The destinations that the catalog's templates name for a run. */
export function fillTemplates(
  templates: TraceTemplates,
  { runId }: Pick<Run, 'runId'>,
  namespace: string,
): TraceMeta | null {
  if (templates === false) return null
  const { local, remote } = templates
  const fill = (template: string) => fillTemplate(template, { namespace, runId })
  return {
    destinations: {
      ...(local === undefined ? {} : { local: fill(local) }),
      ...(remote === undefined ? {} : { remote: fill(remote) }),
    },
  }
}
