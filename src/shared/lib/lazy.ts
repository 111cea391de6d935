/**
 * Creates a value from a module that is loaded on first use, and keeps the value. A load that failed is retried on the
 * next use.
 *
 * The promise is not kept: on workerd a request cannot await another request's promise.
 */
export function lazy<Module, T>(load: () => Promise<Module>, create: (module: Module) => T): Lazy<T> {
  let created: { value: T } | null = null
  return {
    get current() {
      return created?.value
    },
    async get() {
      if (created !== null) return created.value
      const module = await load()
      // Any number of first uses at the same time create one value.
      created ??= { value: create(module) }
      return created.value
    },
  }
}

export interface Lazy<T> {
  /** Undefined until it is created. */
  readonly current: T | undefined
  get(): Promise<T>
}
