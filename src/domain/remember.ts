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
}

/**
 * A reader that reads a key at most once per `ttlMs`, however many ask for it at once.
 *
 * With `freshSince` (epoch ms) the value is not older than that. A failed reading is not remembered.
 */
export function remember<T>({ read, ttlMs, maxKeys, now = Date.now }: RememberOptions<T>) {
  const readings = new Map<string, { readAt: number; value: Promise<T> }>()

  function begin(key: string) {
    const reading = { readAt: now(), value: read(key) }
    readings.delete(key)
    readings.set(key, reading)
    const [oldest] = readings.keys()
    if (readings.size > maxKeys && oldest !== undefined) readings.delete(oldest)
    reading.value.catch(() => {
      if (readings.get(key) === reading) readings.delete(key)
    })
    return reading
  }

  return async (key: string, freshSince = 0): Promise<Remembered<T>> => {
    const known = readings.get(key)
    const fresh = known !== undefined && known.readAt >= freshSince && known.readAt > now() - ttlMs
    const reading = fresh ? known : begin(key)
    return { value: await reading.value, readAt: reading.readAt }
  }
}
