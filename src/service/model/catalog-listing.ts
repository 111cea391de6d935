import type { CatalogEntry } from '../../shared/wire/catalog.ts'

export interface CatalogListing {
  catalog: string
  /** False for a catalog in the older format: its schemas describe parsed inputs, and requests are not checked. */
  inputsChecked: boolean
  workflows: CatalogEntry[]
}
