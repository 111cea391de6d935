/**
 * Observes each request and runs its steps before its handler. Hono's middleware is not used, because each one keeps
 * more than a kilobyte in memory while a request waits.
 */
import type { Context } from 'hono'
import { linkSignals } from '../../../shared/lib/abort.ts'
import { SHUTTING_DOWN } from '../../model/call.ts'
import { type Env, type RequestStep, whenResponded, whenSent } from '../context.ts'
import { problemResponse } from '../errors.ts'
import { type Observers, observe, type RequestSpan } from './observe.ts'

type Handler = (c: Context<Env>) => Response | Promise<Response>

/** The handler, with observation and with `steps` that run before it, in this order. */
export function serve(observers: Observers, steps: readonly RequestStep[], handler: Handler): Handler {
  async function handle(c: Context<Env>, span: RequestSpan | null): Promise<Response> {
    const acts: (() => void)[] = []
    c.set('whenResponded', acts)
    const endObservation = observe(c, observers, span)
    try {
      const early = runSteps(c, steps)
      c.res = (early instanceof Promise ? await early : early) ?? (await handler(c))
    } catch (error) {
      c.error = error instanceof Error ? error : new Error('not an Error was thrown', { cause: error })
      c.res = problemResponse(c, c.error)
    }
    for (const act of acts.reverse()) act()
    endObservation()
    return c.res
  }

  function traced(c: Context<Env>, span: RequestSpan | null): Promise<Response> {
    return span === null ? handle(c, null) : span.run(() => handle(c, span))
  }

  return (c) => {
    const starting = observers.tracer?.startRequest(c.req.raw) ?? null
    return starting instanceof Promise ? starting.then((span) => traced(c, span)) : traced(c, starting)
  }
}

/** The response of the first step that responds, if any. A promise only if a step waits. */
function runSteps(
  c: Context<Env>,
  steps: readonly RequestStep[],
  first = 0,
): Response | undefined | Promise<Response | undefined> {
  for (let at = first; at < steps.length; at++) {
    const response = steps[at]?.(c)
    if (response instanceof Promise) return response.then((settled) => settled ?? runSteps(c, steps, at + 1))
    if (response !== undefined) return response
  }
  return undefined
}

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
    c.set('abort', linked.abort)
    whenResponded(c, () =>
      whenSent(c, () => {
        remove()
        linked.release()
      }),
    )
  }
}
