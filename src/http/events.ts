/**
 * Responses as server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html
 *
 * Hono's `streamSSE` is not used: when its callback throws, it sends the error's message to the client.
 */
import type { Context } from 'hono'
import { stream } from 'hono/streaming'
import type { Env } from './context.ts'
import { respond } from './response.ts'

/**
 * Sends one event, with `data` as JSON. Resolves when the client has taken it, or has disconnected. A client that
 * reconnects sends the last `id` that it has received.
 */
export type SendEvent = (event: string, data: unknown, id?: string) => Promise<unknown>

// How long a client that lost the connection waits before it reconnects. Browsers wait for 3 to 5 s by default.
const RETRY_MS = 2000

// Proxies close connections that stay silent, many of them after 30 s.
export const COMMENT_EVERY_MS = 10_000

const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  // Without this header nginx buffers the events.
  'X-Accel-Buffering': 'no',
}

/** A 200 response with the events that `sendAll` sends before it settles, and a comment every `commentEveryMs`. */
export function eventStream(
  c: Context<Env>,
  sendAll: (send: SendEvent) => Promise<void>,
  commentEveryMs: number,
): Response {
  // Nothing reads the body of a response to HEAD: the stream would never end.
  if (c.req.method === 'HEAD') return respond(c, null, 200, HEADERS)
  const { promise: sent, resolve } = Promise.withResolvers<void>()
  c.set('sent', sent)
  const { body } = stream(c, async (out) => {
    out.onAbort(c.get('abort'))
    void out.write(`retry: ${RETRY_MS}\n\n`)
    const comments = setInterval(() => void out.write(': still running\n\n'), commentEveryMs)
    try {
      await sendAll((event, data, id) => {
        const lines = [...(id === undefined ? [] : [`id: ${id}`]), `event: ${event}`, `data: ${JSON.stringify(data)}`]
        return out.write(`${lines.join('\n')}\n\n`)
      })
    } finally {
      clearInterval(comments)
      resolve()
    }
  })
  return respond(c, body, 200, HEADERS)
}
