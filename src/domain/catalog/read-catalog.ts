import { decideFresh } from '../../lib/decide-fresh.ts'
import type { Call } from '../model/call.ts'
import type { CatalogListing } from '../model/catalog-listing.ts'
import { ServiceError } from '../model/errors.ts'
import type { Ports } from '../model/ports.ts'
import { withinCall } from '../model/within-call.ts'

/** Lists the workflows of a catalog. */
export async function readCatalog(
  { catalogs, now }: Pick<Ports, 'catalogs' | 'now'>,
  catalog: string,
  call: Call,
): Promise<CatalogListing> {
  const { value: published } = await decideFresh(
    async (freshSince) => withinCall(catalogs.published(catalog, freshSince), call),
    ({ value, readAt }) => (value === null ? readAt : null),
    now,
  )
  const workflows = published && (await withinCall(catalogs.workflows(published), call))
  if (published === null || workflows === null)
    throw new ServiceError('CatalogNotFoundError', `Catalog "${catalog}" is not published`)
  return { catalog, inputsChecked: !catalogs.isOlderForm(published.run.workflowId), workflows }
}
