export interface Remembered<T> {
  value: T
  /** Epoch milliseconds at which its reading began. */
  readAt: number
}

export interface RememberOptions<T> {
  read(key: string): Promise<T>
  ttlMs: number
  /** How many keys are kept, the oldest going first: they may come from outside. */
  maxKeys: number
  now?: () => number
  /** False where one request's I/O dies with it (workerd): then only what has been read is shared, never the reading of it. */
  sharesPending?: boolean
}

/**
 * A reader that reads a key at most once per `ttlMs`, however many ask for it at once.
 *
 * With `freshSince` (epoch ms) the value is not older than that; those who come while an older reading is in flight share the
 * next one. A failed reading is not remembered.
 */
export function remember<T>({ read, ttlMs, maxKeys, now = Date.now, sharesPending = true }: RememberOptions<T>) {
  const readings = new Map<string, Reading<T>>()

  function keep(key: string, reading: Reading<T>) {
    readings.delete(key)
    readings.set(key, reading)
    const [oldest] = readings.keys()
    if (readings.size > maxKeys && oldest !== undefined) readings.delete(oldest)
  }

  async function begin(key: string): Promise<Remembered<T>> {
    const reading: Reading<T> = { readAt: now(), value: read(key), settled: null }
    if (sharesPending) keep(key, reading)
    try {
      const value = await reading.value
      reading.settled = { value }
      if (!sharesPending) keep(key, reading)
      return { value, readAt: reading.readAt }
    } catch (error) {
      if (readings.get(key) === reading) readings.delete(key)
      throw error
    }
  }

  async function get(key: string, freshSince = 0): Promise<Remembered<T>> {
    while (true) {
      const known = readings.get(key)
      if (known === undefined) return begin(key)
      const isFresh = freshSince > 0 ? known.readAt >= freshSince : known.readAt > now() - ttlMs
      if (isFresh) return { value: known.settled ? known.settled.value : await known.value, readAt: known.readAt }
      if (freshSince === 0 || known.settled !== null) return begin(key)
      await known.value.catch(() => {}) // reported to those who asked for it; the next reading may succeed
    }
  }

  return Object.assign(get, {
    /** What is known without a reading counts as read now. */
    put: (key: string, value: T) => keep(key, { readAt: now(), value: Promise.resolve(value), settled: { value } }),
  })
}

interface Reading<T> {
  readAt: number
  value: Promise<T>
  /** Null while it is in flight. On workerd another request may use what was read, but not the promise of it. */
  settled: { value: T } | null
}
