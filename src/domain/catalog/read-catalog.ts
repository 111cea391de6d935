import type { Call } from '../call.ts'
import { ServiceError } from '../errors.ts'
import { inTime } from '../with-deadline.ts'
import type { CatalogListing } from '../workflows.ts'
import type { Catalogs } from './catalogs.ts'

/** What is on the task queue. Nothing published is said only of what was read after the request came. */
export async function readListing(
  catalogs: Catalogs,
  catalog: string,
  call: Call,
  now: () => number = Date.now,
): Promise<CatalogListing> {
  const arrivedAt = now()
  const read = async (freshSince: number) => await inTime(catalogs.published(catalog, freshSince), call)
  const first = await read(0)
  const published = first.value ?? (first.readAt < arrivedAt ? (await read(arrivedAt)).value : null)
  const workflows = published === null ? null : await inTime(catalogs.workflows(published), call)
  if (workflows === null) throw new ServiceError('CatalogNotFoundError', `Catalog "${catalog}" is not published`)
  return { catalog, workflows }
}
