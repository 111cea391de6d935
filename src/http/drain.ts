import { SHUTTING_DOWN } from '../domain/call.ts'

/** The open requests' waits, so that a server that shuts down can end them all. */
export interface Drain {
  /** Returns how to let go of it: no listener stays on anything that lives longer than the request. */
  track(controller: AbortController): () => void
  /** Ends every wait, also those that begin later. */
  abortAll(): void
}

export function createDrain(): Drain {
  const open = new Set<AbortController>()
  let drained = false
  return {
    track(controller) {
      if (drained) controller.abort(SHUTTING_DOWN)
      open.add(controller)
      return () => void open.delete(controller)
    },
    abortAll() {
      drained = true
      for (const controller of open) controller.abort(SHUTTING_DOWN)
    },
  }
}
