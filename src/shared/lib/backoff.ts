import { sleep } from './abort.ts'

export interface Backoff {
  /** The delay before the next attempt. Throws instead to end the retries; the caller gets that error. */
  delayMs(error: unknown, retries: number): number
  /** Ends a delay at once. The next attempt is made nevertheless, and must reject. */
  signal: AbortSignal
  /** Called after the delay. It can throw to end the retries too. */
  beforeRetry?(error: unknown): Promise<void>
}

/** The result of the first attempt that succeeds. */
export async function retryWithBackoff<T>(
  attempt: () => Promise<T>,
  { delayMs, signal, beforeRetry }: Backoff,
): Promise<T> {
  for (let retries = 0; ; retries++) {
    try {
      return await attempt()
    } catch (error) {
      await sleep(delayMs(error, retries), signal)
      await beforeRetry?.(error)
    }
  }
}
