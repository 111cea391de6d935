/** Answers that are sent bit by bit, as server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html */
import type { Context } from 'hono'
import { accepts } from 'hono/accepts'
import { stream } from 'hono/streaming'
import type { Env } from './context.ts'

/** Resolves when the event is on its way; what is told to nobody is dropped. */
export type Send = (event: string, data: unknown) => Promise<unknown>

// Proxies cut what is silent, many after 30 s.
export const COMMENT_EVERY_MS = 10_000

/** Whether the client would rather have events than one answer. */
export function asksForEvents(c: Context): boolean {
  const supports = ['application/json', 'text/event-stream']
  return accepts(c, { header: 'Accept', supports, default: 'application/json' }) === 'text/event-stream'
}

/** 200 with the events that `tell` sends until it settles, and comments between them. */
export function events(c: Context<Env>, tell: (send: Send) => Promise<void>, commentEveryMs: number): Response {
  const { promise: sent, resolve } = Promise.withResolvers<void>()
  c.set('sent', sent)
  c.header('Content-Type', 'text/event-stream')
  c.header('Cache-Control', 'no-store')
  // nginx would keep the events until there are enough of them.
  c.header('X-Accel-Buffering', 'no')
  return stream(c, async (out) => {
    out.onAbort(c.var.endWaiting)
    const comments = setInterval(() => void out.write(': still running\n\n'), commentEveryMs)
    try {
      await tell((event, data) => out.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`))
    } finally {
      clearInterval(comments)
      resolve()
    }
  })
}
