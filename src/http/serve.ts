/**
 * Observes each request and runs its steps before its handler. Hono's middleware is not used, because each one keeps
 * more than a kilobyte in memory while a request waits.
 */
import type { Context } from 'hono'
import type { Env, RequestStep } from './context.ts'
import { problemResponse } from './errors.ts'
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
