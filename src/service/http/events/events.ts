/**
 * Responses as server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
import type { Context } from 'hono'
import { type Env, respond } from '../context.ts'
import { type ProblemBody, problemBody } from '../errors.ts'

// How long a client that lost the connection waits before it reconnects: browsers wait for 3 to 5 s by default. All
// readers lose it at the same moment, so they must not come back at the same moment.
const MIN_RETRY_MS = 1000
const MAX_RETRY_MS = 4000

// Proxies close connections that stay silent, many of them after 30 s.
export const COMMENT_EVERY_MS = 10_000

export const EVENT_STREAM_HEADERS = {
  'Content-Type': 'text/event-stream',
  // Proxies that compress would hold the events back.
  'Cache-Control': 'no-store, no-transform',
  // Without this header nginx buffers the events.
  'X-Accel-Buffering': 'no',
}

/** One event, with `data` as JSON. A client that reconnects sends the last `id` that it has received. */
export function eventFrame(event: string, data: unknown, id?: string): string {
  const idLine = id === undefined ? '' : `id: ${id}\n`
  return `${idLine}event: ${event}\n${dataFrame(data)}`
}

/** Ends an event: its data as JSON. */
export function dataFrame(data: unknown): string {
  return `data: ${onOneLine(JSON.stringify(data))}\n\n`
}

/** The JSON without characters that end a line somewhere. */
export function onOneLine(json: string): string {
  return json.replace(LINE_ENDS, toEscape)
}

// Many programs split a stream into lines at these characters too, which JSON may contain.
const LINE_ENDS = /[\u0085\u2028\u2029]/g

function toEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** The body of an error that ends the events of a response. The log line of the request has the error. */
export function reportedProblem(c: Context<Env>, error: Error): ProblemBody {
  c.error = error
  return problemBody(c, error)
}

export interface EventStreamOptions {
  commentEveryMs: number
  /** What is sent at intervals; default: a comment. */
  comment?: () => string
  headers?: Readonly<Record<string, string>>
  /** The last frame if the frames fail. Default: the connection breaks. */
  onError?: (body: ProblemBody, error: Error) => string
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
  { commentEveryMs, comment = () => ': still running\n\n', headers, onError }: EventStreamOptions,
): Response {
  const { promise: sent, resolve } = Promise.withResolvers<void>()
  c.set('sent', sent)
  const abort = c.get('abort')
  const iterator = frames[Symbol.asyncIterator]()
  let timer: ReturnType<typeof setInterval> | undefined
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const retryMs = Math.round(MIN_RETRY_MS + Math.random() * (MAX_RETRY_MS - MIN_RETRY_MS))
      controller.enqueue(encoder.encode(`retry: ${retryMs}\n\n`))
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
        fail(controller, error)
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

  function fail(controller: ReadableStreamDefaultController<Uint8Array>, error: unknown): void {
    const frame = onError && error instanceof Error ? onError(reportedProblem(c, error), error) : null
    end()
    if (frame !== null) {
      controller.enqueue(encoder.encode(frame))
      controller.close()
    } else controller.error(error)
  }

  return respond(c, body, 200, { ...EVENT_STREAM_HEADERS, ...headers })
}
