import type { CatalogEntry } from '../../shared/wire/catalog.ts'
import { isSameVersion } from '../../shared/wire/worker-version.ts'
import { type Call, withinCall } from '../model/call.ts'
import type { KnownRun } from '../start/known-runs.ts'
import type { Catalogs } from './catalogs.ts'

/**
 * The workflow of a run as its catalog publishes it. Null if the catalog says nothing about the run: it is not
 * published, has the older format, whose schemas are informational, or belongs to another version than the one that the
 * run is pinned to.
 */
export async function publishedEntry(
  catalogs: Catalogs,
  { workflowName, catalog, pinnedVersion }: Pick<KnownRun, 'catalog' | 'pinnedVersion' | 'workflowName'>,
  freshSince: number,
  call: Call,
): Promise<{ entry: CatalogEntry | null; readAt: number }> {
  const { value: published, readAt } = await withinCall(catalogs.published(catalog, freshSince), call)
  const isOther = pinnedVersion !== null && !isSameVersion(pinnedVersion, published?.version ?? null)
  if (published === null || isOther || catalogs.isOlderForm(published.run.workflowId)) return { entry: null, readAt }
  const workflows = await withinCall(catalogs.workflows(published), call)
  return { entry: workflows?.find(({ name }) => name === workflowName) ?? null, readAt }
}
