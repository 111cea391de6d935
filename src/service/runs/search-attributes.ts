import { type CacheOptions, decideFresh, readThroughCache } from '../../shared/lib/cache.ts'
import { toPointer } from '../../shared/lib/json.ts'
import { toRfc3339 } from '../../shared/lib/rfc3339.ts'
import { backgroundCall, type Call, withinCall } from '../model/call.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import type { Engine } from '../model/engine.ts'
import { invalidValue } from '../model/errors.ts'
import type { AttributeFilter, RunFilter, SearchAttributeType, TypedRunFilter } from '../model/run-filter.ts'
import type { SearchAttributeValue } from '../model/workflow-options.ts'

/** The search attributes that are registered with the engine. Cached for a minute. */
export interface SearchAttributes {
  /**
   * Adds the registered type to each attribute of the filter. Throws `ValidationError` for one that is not registered.
   */
  resolve(filter: RunFilter, call: Call): Promise<TypedRunFilter>
  /**
   * The values for a start, with times as the engine reads them. The types are only read for a value without its type
   * that is a time of another form: it may also be a keyword.
   */
  withEngineTimes(values: ValuesByName, call: Call): Promise<ValuesByName>
}

type ValuesByName = Readonly<Record<string, SearchAttributeValue>>

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

  /** Reads the types again if one is missing: the attribute may have been registered just now. */
  async function typesOf(names: readonly string[], call: Call): Promise<ReadonlyMap<string, SearchAttributeType>> {
    const { value } = await decideFresh(
      async (freshSince) => withinCall(types.get('', freshSince), call),
      ({ value, readAt }) => (names.some((name) => !value.has(name)) ? readAt : null),
      now,
    )
    return value
  }

  return {
    async resolve({ searchAttributes = {}, ...filter }, call) {
      const requested = Object.entries(searchAttributes)
      if (requested.length === 0) return { ...filter, searchAttributes: [] }
      const known = await typesOf(Object.keys(searchAttributes), call)
      return { ...filter, searchAttributes: requested.map(([name, value]) => toFilter(name, value, known)) }
    },

    async withEngineTimes(values, call) {
      const rewritten = new Map(Object.entries(values).flatMap(([name, value]) => otherForm(name, value)))
      if (rewritten.size === 0) return values
      // Without the types the values are sent as they are, and the engine decides: they may all be keywords.
      const known = await typesOf([...rewritten.keys()], call).catch(() => new Map<string, SearchAttributeType>())
      const entries = Object.entries(values).map(([name, given]) => {
        const value = known.get(name) === 'datetime' ? (rewritten.get(name) ?? given.value) : given.value
        return [name, { ...given, value }]
      })
      return Object.fromEntries(entries)
    },
  }
}

/** The name, and the value as RFC 3339 writes it, of a time without its type that is written in another form. */
function otherForm(name: string, { type, value }: SearchAttributeValue): [string, string][] {
  const time = type === null && typeof value === 'string' ? toRfc3339(value) : null
  return time === null || time === value ? [] : [[name, time]]
}

function toFilter(name: string, value: string, known: ReadonlyMap<string, SearchAttributeType>): AttributeFilter {
  const type = known.get(name)
  if (type !== undefined) return { name, type, value }
  throw invalidValue(toPointer(['searchAttributes', name]), 'is not a search attribute of the namespace')
}
