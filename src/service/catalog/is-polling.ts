// The engine lists a worker for 300 s after its last poll; a running worker polls at least once a minute.
const MAX_POLL_AGE_MS = 75_000

/** Whether a worker still polls a task queue that was last polled at that time. */
export function isPolling(lastPolledAt: Date | null, now: number): boolean {
  return now - (lastPolledAt?.getTime() ?? 0) < MAX_POLL_AGE_MS
}
