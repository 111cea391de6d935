export interface WeighedCache<Value> {
  get(key: string): Value | undefined
  /** `bytes` is the size of the value. A value that is larger than the cache is not kept. */
  set(key: string, value: Value, bytes: number): void
  delete(key: string): void
}

export interface WeighedCacheOptions {
  /** Limit on the sizes of all values and keys together. */
  maxBytes: number
  maxAgeMs: number
  /** A monotonic clock. */
  now?: () => number
}

// An entry of the map, its key, and the object that holds the value.
const ENTRY_BYTES = 200

/**
 * A map that is bounded by the memory of its values instead of their number.
 * The entry that was set first is evicted first.
 */
export function weighedCache<Value>({
  maxBytes,
  maxAgeMs,
  now = () => performance.now(),
}: WeighedCacheOptions): WeighedCache<Value> {
  // A Map iterates in the order in which its keys were added: the first entry is the oldest.
  const entries = new Map<string, { value: Value; bytes: number; setAt: number }>()
  let totalBytes = 0

  const isExpired = (setAt: number) => now() - setAt >= maxAgeMs

  function remove(key: string): void {
    totalBytes -= entries.get(key)?.bytes ?? 0
    entries.delete(key)
  }

  return {
    get(key) {
      const entry = entries.get(key)
      return entry === undefined || isExpired(entry.setAt) ? undefined : entry.value
    },
    set(key, value, valueBytes) {
      remove(key)
      const bytes = valueBytes + 2 * key.length + ENTRY_BYTES
      if (bytes > maxBytes) return
      entries.set(key, { value, bytes, setAt: now() })
      totalBytes += bytes
      for (const [oldest, { setAt }] of entries) {
        if (totalBytes <= maxBytes && !isExpired(setAt)) break
        remove(oldest)
      }
    },
    delete: remove,
  }
}
