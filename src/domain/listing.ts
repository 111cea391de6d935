import type { Catalogs } from './catalog.ts'
import { ServiceError } from './errors.ts'
import type { CatalogListing } from './workflows.ts'

/** What is on the task queue. Nothing published is said only of what was read after the request came. */
export async function readListing(catalogs: Catalogs, catalog: string, now: () => number = Date.now): Promise<CatalogListing> {
  const arrivedAt = now()
  const first = await catalogs.published(catalog)
  const published = first.value ?? (first.readAt < arrivedAt ? (await catalogs.published(catalog, arrivedAt)).value : null)
  const workflows = published === null ? null : await catalogs.workflows(published)
  if (workflows === null) throw new ServiceError('CatalogNotFoundError', `No catalog "${catalog}" is published`)
  return { catalog, workflows }
}
