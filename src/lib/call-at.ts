import { MAX_TIMER_MS } from './duration.ts'

/** Calls `act` at a time (epoch milliseconds), however far away. Returns the function that prevents the call. */
export function callAt(time: number, act: () => void): () => void {
  const start = () => setTimeout(wake, Math.min(Math.max(0, time - Date.now()), MAX_TIMER_MS))
  const wake = () => {
    if (Date.now() < time) timer = start()
    else act()
  }
  let timer = start()
  return () => clearTimeout(timer)
}
