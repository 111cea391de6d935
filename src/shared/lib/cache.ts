import { sharesPromises } from './single-flight.ts'

export interface CachedValue<T> {
  value: T
  /** Epoch milliseconds at which its load began. */
  readAt: number
}

/** Called for each read of a cache. A read that needs no load, or shares a load in flight, is a hit. */
export type OnCacheRead = (cache: string, isHit: boolean) => void

/** What all caches of a service have in common. */
export interface CacheOptions {
  now?: () => number
  onCacheRead?: OnCacheRead | undefined
}

export interface ReadThroughCacheOptions<T> extends CacheOptions {
  /** For `onCacheRead`. */
  name: string
  read(key: string): Promise<T>
  ttlMs: number
  /** Keys may come from outside: beyond this many, the one that was read longest ago is evicted. */
  maxKeys: number
}

export interface ReadThroughCache<T> {
  /**
   * The cached value, or a new one. With `freshSince` (epoch ms) the value is not older than that: callers that come
   * while an older read is in flight share the next one. A cached value is returned at once, without a promise.
   */
  get(key: string, freshSince?: number): CachedValue<T> | Promise<CachedValue<T>>
  /** Caches a value that is known without a read, as if it had been read now. */
  set(key: string, value: T): void
}

/**
 * Reads a key at most once per `ttlMs`, however many callers want it at once; on workerd they share only values. A
 * failed read is not cached.
 */
export function readThroughCache<T>(options: ReadThroughCacheOptions<T>): ReadThroughCache<T> {
  const { name, read, ttlMs, maxKeys, now = Date.now, onCacheRead } = options
  const isShared = sharesPromises()
  const entries = boundedMap<string, Entry<T>>(maxKeys)

  async function load(key: string): Promise<CachedValue<T>> {
    onCacheRead?.(name, false)
    const entry: Entry<T> = { readAt: now(), pending: read(key), loaded: null }
    if (isShared) entries.set(key, entry)
    try {
      const value = await entry.pending
      entry.loaded = { value }
      if (!isShared) entries.set(key, entry)
      return { value, readAt: entry.readAt }
    } catch (error) {
      if (entries.get(key) === entry) entries.delete(key)
      throw error
    }
  }

  const isUsable = (readAt: number, freshSince: number) =>
    freshSince > 0 ? readAt >= freshSince : readAt > now() - ttlMs

  async function loadOrShare(key: string, freshSince: number): Promise<CachedValue<T>> {
    while (true) {
      const entry = entries.get(key)
      if (entry !== undefined && isUsable(entry.readAt, freshSince)) {
        onCacheRead?.(name, true)
        return toCachedValue(entry)
      }
      if (entry === undefined || freshSince === 0 || entry.loaded !== null) return load(key)
      // Reported to the callers that started it. The next read may succeed.
      await entry.pending.catch(() => {})
    }
  }

  return {
    get(key, freshSince = 0) {
      const { loaded = null, readAt = 0 } = entries.get(key) ?? {}
      if (loaded === null || !isUsable(readAt, freshSince)) return loadOrShare(key, freshSince)
      onCacheRead?.(name, true)
      return { value: loaded.value, readAt }
    },
    set: (key, value) => entries.set(key, { readAt: now(), pending: Promise.resolve(value), loaded: { value } }),
  }
}

interface Entry<T> {
  readAt: number
  pending: Promise<T>
  /** Null while the read is in flight. On workerd another request may use the value, but not await its promise. */
  loaded: { value: T } | null
}

async function toCachedValue<T>({ readAt, pending, loaded }: Entry<T>): Promise<CachedValue<T>> {
  return { value: loaded === null ? await pending : loaded.value, readAt }
}

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

/**
 * Decides from cached values, but never rejects because of a value that was read before the request arrived: before a
 * rejection, it decides again from fresh values.
 *
 * `decide` gets the time after which values must have been read (epoch milliseconds); 0 accepts any cached value.
 * `rejectedAt` returns when the oldest value behind a rejection was read; null if nothing is rejected.
 */
export async function decideFresh<T>(
  decide: (freshSince: number) => Promise<T>,
  rejectedAt: (decision: T) => number | null,
  now: () => number = Date.now,
): Promise<T> {
  const arrivedAt = now()
  const cached = await decide(0)
  const readAt = rejectedAt(cached)
  return readAt !== null && readAt < arrivedAt ? decide(arrivedAt) : cached
}

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
