/** Calls a function now or, while the limit is reached, when its turn comes. */
export type Limiter = <T>(act: () => Promise<T>) => Promise<T>

/**
 * At most `limit` functions run at a time, in the order of the calls. Not for workerd, where a request cannot await the
 * turn of another one.
 */
export function createLimiter(limit: number): Limiter {
  let running = 0
  const waiting = new Set<() => void>()
  return async (act) => {
    if (running < limit) running++
    else await new Promise<void>((resolve) => waiting.add(resolve))
    try {
      return await act()
    } finally {
      const [next] = waiting
      if (next === undefined) running--
      else {
        waiting.delete(next)
        next()
      }
    }
  }
}
