import type { CatalogEntry } from '../../protocol/catalog.ts'

export interface CatalogListing {
  catalog: string
  /** False for a catalog of the older form: its schemas describe parsed inputs, and requests are not checked. */
  inputsChecked: boolean
  workflows: CatalogEntry[]
}
