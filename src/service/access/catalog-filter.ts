/** Selects the entries of a catalog that the rules of a caller name. */

import type { Grant } from '../../shared/access/caller.ts'
import { matchesAll } from '../../shared/access/patterns.ts'
import { type WeighedCache, weighedCache } from '../../shared/lib/weighed-cache.ts'
import type { HandlerEntry } from '../../shared/wire/catalog.ts'
import { memoryOf } from '../runs/closed-runs.ts'

// For all selections of one catalog. Access tokens can have any patterns, so the policy does not limit how many there
// are. Each costs its array, and what is derived from its entries: the tools of agents are as large as the entries.
const MAX_BYTES = 16 * 1024 * 1024

// Of a tool, besides its schemas, which are compiled too.
const TOOL_BYTES = 1024
const PER_ENTRY = 2

/** `workflows` of the grants are patterns of names, also of activities. */
export type FilterCatalog = <Entry extends HandlerEntry>(
  entries: Entry[],
  grants: readonly Pick<Grant, 'workflows'>[],
) => Entry[]

/**
 * Returns the same array for the same selection of the same entries, whatever patterns select it, because responses are
 * cached with the array as the key.
 */
export function createCatalogFilter(): FilterCatalog {
  const selections = new WeakMap<object, WeighedCache<HandlerEntry[]>>()
  return <Entry extends HandlerEntry>(entries: Entry[], grants: readonly Pick<Grant, 'workflows'>[]) => {
    if (grants.some(({ workflows }) => matchesAll(workflows))) return entries
    const isNamed = matcherOf(grants.flatMap(({ workflows = [] }) => workflows))
    const selected = entries.filter(({ name }) => isNamed(name))
    if (selected.length === entries.length) return entries
    const ofEntries = (selections.get(entries) ??
      weighedCache({ maxBytes: MAX_BYTES, maxAgeMs: Number.POSITIVE_INFINITY })) as WeighedCache<Entry[]>
    selections.set(entries, ofEntries)
    const key = selected.map(({ name }) => name).join('\n')
    const known = ofEntries.get(key)
    if (known !== undefined) return known
    ofEntries.set(
      key,
      selected,
      selected.reduce((bytes, entry) => bytes + bytesOf(entry), 0),
    )
    return selected
  }
}

function bytesOf(entry: HandlerEntry): number {
  return TOOL_BYTES + PER_ENTRY * memoryOf(entry, MAX_BYTES)
}

/** The same as `matchesAny`, for many names. */
function matcherOf(patterns: readonly string[]): (name: string) => boolean {
  const exact = new Set(patterns)
  const beginnings = patterns.filter((pattern) => pattern.endsWith('*')).map((pattern) => pattern.slice(0, -1))
  return (name) => exact.has(name) || beginnings.some((beginning) => name.startsWith(beginning))
}
