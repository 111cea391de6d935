import type { CatalogEntry, HandlerEntry } from '../../shared/wire/catalog.ts'

export interface CatalogListing {
  catalog: string
  /** False for a catalog in the older format: its schemas describe parsed inputs, and requests are not checked. */
  inputsChecked: boolean
  workflows: CatalogEntry[]
  /** Those that may be started without a workflow, if the catalog describes them. */
  activities: HandlerEntry[]
}
