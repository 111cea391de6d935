/**
 * Responses as server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
import type { Context } from 'hono'
import type { Env } from './context.ts'
import { respond } from './response.ts'

// How long a client that lost the connection waits before it reconnects. Browsers wait for 3 to 5 s by default.
const RETRY_MS = 2000

// Proxies close connections that stay silent, many of them after 30 s.
export const COMMENT_EVERY_MS = 10_000

export const EVENT_STREAM_HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  // Without this header nginx buffers the events.
  'X-Accel-Buffering': 'no',
}

/** One event, with `data` as JSON. A client that reconnects sends the last `id` that it has received. */
export function eventFrame(event: string, data: unknown, id?: string): string {
  const idLine = id === undefined ? '' : `id: ${id}\n`
  return `${idLine}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}

export interface EventStreamOptions {
  commentEveryMs: number
  /** What is sent at intervals; default: a comment. */
  comment?: () => string
  headers?: Readonly<Record<string, string>>
}

const encoder = new TextEncoder()

// A client that does not read must not fill the memory.
const MAX_UNREAD_COMMENTS = 10

/**
 * A 200 response with these frames, and a comment at intervals. A frame is requested when the client has taken the
 * previous one. The body is not Hono's `stream`, which costs twice the memory and CPU time of each reader.
 */
export function eventStream(
  c: Context<Env>,
  frames: AsyncIterable<string | Uint8Array>,
  { commentEveryMs, comment = () => ': still running\n\n', headers }: EventStreamOptions,
): Response {
  const { promise: sent, resolve } = Promise.withResolvers<void>()
  c.set('sent', sent)
  const abort = c.get('abort')
  const iterator = frames[Symbol.asyncIterator]()
  let timer: ReturnType<typeof setInterval> | undefined
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encoder.encode(`retry: ${RETRY_MS}\n\n`))
      timer = setInterval(() => {
        if ((controller.desiredSize ?? 0) > -MAX_UNREAD_COMMENTS) controller.enqueue(encoder.encode(comment()))
      }, commentEveryMs)
    },
    async pull(controller) {
      try {
        const { value, done } = await iterator.next()
        if (!done) return controller.enqueue(typeof value === 'string' ? encoder.encode(value) : value)
        end()
        controller.close()
      } catch (error) {
        end()
        controller.error(error)
      }
    },
    cancel() {
      end()
      abort()
      void iterator.return?.()
    },
  })

  function end(): void {
    clearInterval(timer)
    resolve()
  }

  return respond(c, body, 200, { ...EVENT_STREAM_HEADERS, ...headers })
}
