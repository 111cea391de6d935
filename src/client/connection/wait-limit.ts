/** How long a request may wait for its response before a proxy cuts the connection. */
export interface WaitLimit {
  /** For the next request, which should not last longer than `remainingMs`. */
  next(remainingMs: number): number
  /** A request got its response. */
  completed(elapsedMs: number): void
  /** A request got no response, because its connection was closed. */
  cut(elapsedMs: number): void
}

// A connection that fails sooner was not closed because of its age.
const MIN_MS = 500

/**
 * The limit falls to half of the time after which a connection was closed, and rises to twice the time of a request
 * that got its response.
 */
export function createWaitLimit(maxMs: number): WaitLimit {
  let limitMs = maxMs
  return {
    next: (remainingMs) => Math.max(1, Math.floor(Math.min(limitMs, remainingMs))),
    completed(elapsedMs) {
      limitMs = Math.min(maxMs, Math.max(limitMs, elapsedMs * 2))
    },
    cut(elapsedMs) {
      if (elapsedMs > MIN_MS) limitMs = Math.min(limitMs, Math.max(MIN_MS, elapsedMs / 2))
    },
  }
}
