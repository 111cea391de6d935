/** Graceful shutdown: stop accepting, finish open requests, exit. */
import { afterRunning } from '../../shared/lib/abort.ts'

export interface ShutdownSteps {
  timeoutMs: number
  /** Stops accepting connections. Resolves when every open request has its response. */
  close(): Promise<unknown>
  /** Ends the requests that still wait, with a response. */
  drain(): void
  /** Called with 0 after `close`; with 1 after the timeout, or on a second signal. */
  exit(code: number): void
}

// The contract's time for the responses of requests that still wait.
const DRAIN_MS = 1000

// npm and shells forward signals that the terminal has already sent to this process.
const DUPLICATE_SIGNAL_MS = 500

/** Returns the handler for SIGTERM and SIGINT. */
export function shutdownOnSignal({ timeoutMs, close, drain, exit }: ShutdownSteps): () => void {
  let firstAt: number | null = null
  return () => {
    if (firstAt !== null) {
      if (Date.now() - firstAt > DUPLICATE_SIGNAL_MS) exit(1)
      return
    }
    firstAt = Date.now()
    const drainMs = Math.min(DRAIN_MS, timeoutMs)
    setTimeout(() => {
      drain()
      // Counts running time, because responses take longer on a busy machine.
      afterRunning(drainMs, () => exit(1))
    }, timeoutMs - drainMs)
    // Anything that is still open, or failed to close, ends with the process.
    const done = () => exit(0)
    void close().then(done, done)
  }
}
