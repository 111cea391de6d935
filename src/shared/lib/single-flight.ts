/** False on Cloudflare Workers, where a request that awaits the I/O of another one never gets its value. */
export function sharesPromises(): boolean {
  return globalThis.navigator?.userAgent !== 'Cloudflare-Workers'
}

/**
 * Callers that need the same `key` at the same time share the promise of the first one, unless `sharesPromises` is
 * false: then each has its own.
 */
export function singleFlight<Key, T>(): (key: Key, begin: () => Promise<T>) => Promise<T> {
  const isShared = sharesPromises()
  const pending = new Map<Key, Promise<T>>()
  return (key, begin) => {
    const shared = pending.get(key)
    if (shared !== undefined) return shared
    const begun = begin().finally(() => pending.delete(key))
    if (isShared) pending.set(key, begun)
    return begun
  }
}
