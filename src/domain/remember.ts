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
 * With `freshSince` (epoch ms) the value is not older than that. A failed reading is not remembered.
 */
export function remember<T>({ read, ttlMs, maxKeys, now = Date.now, sharesPending = true }: RememberOptions<T>) {
  const readings = new Map<string, { readAt: number; value: Promise<T> | T }>()

  function keep(key: string, reading: { readAt: number; value: Promise<T> | T }) {
    readings.delete(key)
    readings.set(key, reading)
    const [oldest] = readings.keys()
    if (readings.size > maxKeys && oldest !== undefined) readings.delete(oldest)
  }

  async function begin(key: string): Promise<Remembered<T>> {
    const reading = { readAt: now(), value: read(key) }
    if (sharesPending) keep(key, reading)
    try {
      const value = await reading.value
      if (!sharesPending) keep(key, { ...reading, value })
      return { ...reading, value }
    } catch (error) {
      if (readings.get(key) === reading) readings.delete(key)
      throw error
    }
  }

  return async (key: string, freshSince = 0): Promise<Remembered<T>> => {
    const known = readings.get(key)
    const fresh = known !== undefined && known.readAt >= freshSince && known.readAt > now() - ttlMs
    return fresh ? { value: await known.value, readAt: known.readAt } : begin(key)
  }
}
