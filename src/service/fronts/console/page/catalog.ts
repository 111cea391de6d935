import type { Catalog as CatalogListing } from '../../../../client/responses.ts'
import type { CatalogEntry } from '../../../../shared/wire/catalog.ts'
import { get } from './api.ts'
import { useEffect, useState } from './ui.ts'

export type {
  CatalogEntry as CatalogWorkflow,
  HandlerEntry as Handler,
  JsonSchema as Schema,
} from '../../../../shared/wire/catalog.ts'
export type { CatalogListing }

export interface CatalogState {
  listing: CatalogListing | null
  error: unknown
}

/** The catalog of this name, or the default one if it is null. */
export function useCatalog(name: string | null, isNeeded = true): CatalogState {
  const [state, setState] = useState<CatalogState>({ listing: null, error: null })
  useEffect(() => {
    if (!isNeeded) return
    const controller = new AbortController()
    const path = name === null ? 'workflow/catalog' : `workflow/catalog/${encodeURIComponent(name)}`
    get<CatalogListing>(path, {}, controller.signal).then(
      (listing) => setState({ listing, error: null }),
      (error: unknown) => controller.signal.aborted || setState({ listing: null, error }),
    )
    return () => controller.abort()
  }, [name, isNeeded])
  return state
}

/** The workflow of this name, which may be one of its aliases. */
export function workflowOf(listing: CatalogListing | null, name: string | null): CatalogEntry | null {
  return listing?.workflows.find((one) => one.name === name || one.aliases.some((alias) => alias === name)) ?? null
}
