/** A map that holds at most `maxSize` entries. Setting another key evicts the entry that was set longest ago. */
export interface BoundedMap<Key, Value> {
  get(key: Key): Value | undefined
  has(key: Key): boolean
  set(key: Key, value: Value): void
  delete(key: Key): void
}

export function boundedMap<Key, Value>(maxSize: number): BoundedMap<Key, Value> {
  // A Map iterates in the order in which its keys were added.
  const entries = new Map<Key, Value>()
  return {
    get: (key) => entries.get(key),
    has: (key) => entries.has(key),
    set(key, value) {
      entries.delete(key)
      entries.set(key, value)
      const [oldest] = entries.keys()
      if (entries.size > maxSize && oldest !== undefined) entries.delete(oldest)
    },
    delete: (key) => void entries.delete(key),
  }
}
