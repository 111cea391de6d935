import { SHUTTING_DOWN } from '../domain/model/call.ts'
import { linkSignals } from '../lib/abort.ts'
import { type RequestStep, whenResponded, whenSent } from './context.ts'

/**
 * The requests that do work and have no complete response yet, so that a server that shuts down can abort all of them.
 */
export interface OpenRequests {
  /** Returns the function that removes the request. Call it when the request has ended, so that its memory is freed. */
  add(request: Abortable): () => void
  count(): number
  /** Aborts every request, and every request that is added later. */
  abortAll(): void
}

interface Abortable {
  abort(reason: unknown): void
}

export function createOpenRequests(): OpenRequests {
  const open = new Set<Abortable>()
  let isShuttingDown = false
  return {
    add(request) {
      if (isShuttingDown) request.abort(SHUTTING_DOWN)
      open.add(request)
      return () => void open.delete(request)
    },
    count: () => open.size,
    abortAll() {
      isShuttingDown = true
      for (const request of open) request.abort(SHUTTING_DOWN)
    },
  }
}

/** Sets `signal`, which aborts when the client disconnects or the server shuts down. */
export function abortable(openRequests: OpenRequests): RequestStep {
  return (c) => {
    const linked = linkSignals(c.req.raw.signal)
    const remove = openRequests.add(linked)
    c.set('signal', linked.signal)
    c.set('abort', () => linked.abort())
    whenResponded(c, () =>
      whenSent(c, () => {
        remove()
        linked.release()
      }),
    )
  }
}
