import type { Context, MiddlewareHandler } from 'hono'
import type { Call } from '../domain/call.ts'
import { TIMEOUT_MS } from '../domain/deadlines.ts'
import type { Log } from '../log.ts'
import type { Drain } from './drain.ts'

/** What a request carries through the app. */
export interface Env {
  Variables: {
    requestId: string
    /** What every path in an answer begins with. */
    basePath: string
    /** Facts for the request's log line. */
    facts: Record<string, unknown>
    log: Log
    /** Ends the waiting for this request. */
    signal: AbortSignal
    /** For answers that notice before the request does that the client has left. */
    endWaiting: () => void
    /** Of an answer that is sent bit by bit: when its last bit has been. */
    sent?: Promise<void>
  }
}

/** Who waits for the verb that is about to be called: its time begins now. */
export function call(c: Context<Env>): Call {
  return {
    signal: c.var.signal,
    deadlineAt: Date.now() + TIMEOUT_MS.request,
    requestId: c.var.requestId,
    note: (fields) => void Object.assign(c.var.facts, fields),
    warn: (message, fields) => c.var.log('warn', message, { requestId: c.var.requestId, ...fields }),
  }
}

/** Waiting ends when the client goes away or the server drains, whichever comes first. */
export function endWaiting(drain: Drain): MiddlewareHandler<Env> {
  return async (c, next) => {
    const controller = new AbortController()
    const abort = () => controller.abort()
    const client = c.req.raw.signal
    if (client.aborted) abort()
    client.addEventListener('abort', abort)
    const release = drain.track(controller)
    c.set('signal', controller.signal)
    c.set('endWaiting', abort)
    await next()
    whenSent(c, () => {
      release()
      client.removeEventListener('abort', abort)
    })
  }
}

/** Does what comes after the answer: now, or when the last bit of it is sent. */
export function whenSent(c: Context<Env>, act: () => void): void {
  if (c.var.sent === undefined) act()
  else void c.var.sent.then(act)
}
