/** How a signal ends the process: nothing new, what is open is finished, then out. */

export interface ShutdownSteps {
  timeoutMs: number
  /** Takes nothing new; resolves when what is open is answered. */
  close(): Promise<unknown>
  /** Ends the waits that are still open, so that they can be answered. */
  drain(): void
  /** At the end, or at once when the time is over or a second signal comes. */
  exit(code: number): void
}

// What the contract gives to those who still wait, so that their answers arrive before the process ends.
const LAST_WORDS_MS = 1000

// npm and shells pass on a signal that the terminal has sent already: that is one wish, not two.
const SAME_SIGNAL_MS = 500

/** What to do when a signal arrives. */
export function shutdownOnSignal({ timeoutMs, close, drain, exit }: ShutdownSteps): () => void {
  let firstAt: number | null = null
  return () => {
    if (firstAt !== null) {
      if (Date.now() - firstAt > SAME_SIGNAL_MS) exit(1)
      return
    }
    firstAt = Date.now()
    setTimeout(drain, Math.max(0, timeoutMs - LAST_WORDS_MS))
    setTimeout(() => exit(1), timeoutMs)
    // Whatever is left then (what refuses to be closed, a connection to the engine that is being made) ends with the process.
    const done = () => exit(0)
    void close().then(done, done)
  }
}
