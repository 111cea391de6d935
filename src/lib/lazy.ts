/**
 * Loads a value on first use and keeps it. A load that failed is tried again on the next use.
 *
 * Kept is the value, not the promise: on workerd a request cannot await another request's promise.
 */
export function lazy<T>(load: () => Promise<T>): Lazy<T> {
  let loaded: { value: T } | null = null
  return {
    get current() {
      return loaded?.value
    },
    async get() {
      if (loaded !== null) return loaded.value
      const value = await load()
      // Of two first uses at once, both get the value of the one that loaded first.
      loaded ??= { value }
      return loaded.value
    },
  }
}

export interface Lazy<T> {
  /** Undefined until it is loaded. */
  readonly current: T | undefined
  get(): Promise<T>
}
