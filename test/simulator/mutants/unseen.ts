/** Corrections whose reverts no seed has found, or can find, and why. The script prints them. */

export interface Unseen {
  correction: string
  why: string
}

/** A seed could find these, but none of those that were tried has. */
export const UNSEEN: readonly Unseen[] = [
  {
    correction:
      'a resent signal-with-start says that it has started the run (signal-with-start.ts, isStartedByRequest)',
    why: 'the first attempt must arrive in the 15 ms between the description of the run and the second attempt',
  },
  {
    correction: 'client: a shared read that is too early is repeated (run-of-handle.ts, readLatest)',
    why: 'a reset and a message must use one handle at the same time, while the read of the reset is late',
  },
  {
    correction: 'client: a wait continues for its run, not for a later one (wait.ts, Last-Event-ID)',
    why: 'the id must be used again in the moment between two requests of one wait',
  },
  {
    correction: 'the latest run is described after the request for its result has arrived (closed-runs.ts, isLatest)',
    why: 'the id must be used again between two requests for its result, and the engine must be slow',
  },
  {
    correction:
      'a lost update-with-start has started the run before the latest one (update-with-start.ts, findUpdated)',
    why: 'its run must end, be listed, and be replaced while a response is lost: a unit test plays it',
  },
  {
    correction: 'a limited update-with-start names no run that had ended before (update-with-start-step.ts, wasClosed)',
    why: 'an attempt must be lost, and the next one meet a limit, on the id of a closed run: none of 60 seeds',
  },
]

/** Corrections that no simulation can see. */
export const UNSEEABLE: readonly Unseen[] = [
  {
    correction: 'a repeated update-with-start is sent to exactly the run that may have the update (start.ts, sendTo)',
    why: 'a run that closed with the update answers it: the engine compares the id of the update before it starts a run',
  },
  {
    correction: 'an update whose response was lost is found by its id (find-run.ts, hasUpdate)',
    why: 'without it the outcome is reported as unknown, which is true: no rule says that a response must say more',
  },
  {
    correction:
      'client: a message that may have been received is not sent to the next run (run-of-handle.ts, wasRejected)',
    why: 'the client sends such a message with a key, which the service recognizes in the closed run: nothing changes',
  },
  {
    correction: 'a request counts as work only once its body has arrived (limit-in-flight.ts)',
    why: 'requests of the simulation arrive whole: there are no sockets',
  },
  {
    correction: 'Deno and Bun send each POST once (sent-once.ts)',
    why: 'it is the runtime that sends twice, below fetch',
  },
  {
    correction: 'a process that stood still does not take its own silence for that of the engine (rpc.ts)',
    why: 'virtual time stands still with the process',
  },
]
