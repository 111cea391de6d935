import { type CacheOptions, decideFresh, readThroughCache } from '../../lib/cache.ts'
import { toPointer } from '../../lib/json.ts'
import { backgroundCall, type Call } from '../model/call.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import type { Engine } from '../model/engine.ts'
import { invalidValue } from '../model/errors.ts'
import type { AttributeFilter, RunFilter, SearchAttributeType, TypedRunFilter } from '../model/run-filter.ts'
import { withinCall } from '../model/share-calls.ts'

/** The search attributes that are registered with the engine. Cached for a minute. */
export interface SearchAttributes {
  /**
   * Adds the registered type to each attribute of the filter. Throws `ValidationError` for one that is not registered.
   */
  resolve(filter: RunFilter, call: Call): Promise<TypedRunFilter>
}

export interface SearchAttributesOptions extends CacheOptions {
  engine: Pick<Engine, 'searchAttributeTypes'>
}

const TTL_MS = 60_000

export function createSearchAttributes({
  engine,
  now = Date.now,
  ...options
}: SearchAttributesOptions): SearchAttributes {
  const types = readThroughCache({
    name: 'search_attributes',
    read: () => engine.searchAttributeTypes(backgroundCall('search-attributes', TIMEOUT_MS.searchAttributes)),
    ttlMs: TTL_MS,
    maxKeys: 1,
    now,
    ...options,
  })
  return {
    async resolve({ searchAttributes = {}, ...filter }, call) {
      const requested = Object.entries(searchAttributes)
      if (requested.length === 0) return { ...filter, searchAttributes: [] }
      // Read again before an attribute is rejected: it may have been registered just now.
      const { value: known } = await decideFresh(
        async (freshSince) => withinCall(types.get('', freshSince), call),
        ({ value, readAt }) => (requested.some(([name]) => !value.has(name)) ? readAt : null),
        now,
      )
      return { ...filter, searchAttributes: requested.map(([name, value]) => toFilter(name, value, known)) }
    },
  }
}

function toFilter(name: string, value: string, known: ReadonlyMap<string, SearchAttributeType>): AttributeFilter {
  const type = known.get(name)
  if (type !== undefined) return { name, type, value }
  throw invalidValue(toPointer(['searchAttributes', name]), 'is not a search attribute of the namespace')
}
