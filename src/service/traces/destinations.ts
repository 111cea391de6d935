import type { TraceTemplates } from '../../shared/wire/catalog.ts'
import { fillTemplate } from '../../shared/wire/trace/template.ts'
import { type TraceMeta, toTraceMeta } from '../../shared/wire/trace/trace-meta.ts'
import type { Catalogs } from '../catalog/catalogs.ts'
import { type Call, withinCall } from '../model/call.ts'
import { ServiceError } from '../model/errors.ts'
import type { Description } from '../model/execution.ts'

type Run = Pick<Description, 'catalog' | 'memo' | 'runId'>

/** Where the trace of the run is archived, according to its catalog, its memo, or `fromClosing`, in this order. */
export async function readTraceMeta(
  run: Run,
  catalogs: Catalogs,
  call: Call,
  fromClosing: () => Promise<TraceMeta | null> = async () => null,
): Promise<TraceMeta | null> {
  const { value: published } = await withinCall(catalogs.published(run.catalog), call)
  if (published?.traces != null) return fillTemplates(published.traces, run, catalogs.namespace)
  return toTraceMeta(run.memo.get('trace')) ?? (await fromClosing())
}

/** The same for a response that is complete without it: null when it cannot be read. */
export async function traceMetaOrNull(run: Run, catalogs: Catalogs, call: Call): Promise<TraceMeta | null> {
  try {
    return await readTraceMeta(run, catalogs, call)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    call.note({ traceUnknown: error.message })
    return null
  }
}

/** The destinations of a run, from the templates of its catalog. */
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
