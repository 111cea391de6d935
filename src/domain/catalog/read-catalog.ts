import type { Call } from '../model/call.ts'
import type { CatalogListing } from '../model/catalog-listing.ts'
import { ServiceError } from '../model/errors.ts'
import type { Ports } from '../model/ports.ts'
import { withinCall } from '../model/within-call.ts'

/** Lists the workflows of a catalog. A cached "not published" is read again before it is reported. */
export async function readCatalog(
  { catalogs, now = Date.now }: Pick<Ports, 'catalogs' | 'now'>,
  catalog: string,
  call: Call,
): Promise<CatalogListing> {
  const arrivedAt = now()
  const read = async (freshSince: number) => await withinCall(catalogs.published(catalog, freshSince), call)
  const first = await read(0)
  const published = first.value ?? (first.readAt < arrivedAt ? (await read(arrivedAt)).value : null)
  const workflows = published && (await withinCall(catalogs.workflows(published), call))
  if (published === null || workflows === null)
    throw new ServiceError('CatalogNotFoundError', `Catalog "${catalog}" is not published`)
  return { catalog, inputsChecked: !catalogs.isOlderForm(published.run.workflowId), workflows }
}
