import { GrpcCode } from '../../../temporal/grpc-code.ts'
import { toGrpcCode } from '../http-status.ts'
import { type CallOptions, type Method, type Request, type Response, RpcError, type Transport } from '../transport.ts'
import { HTTP_API_FEATURES } from './features.ts'
import type { HttpCall, HttpMessages } from './messages.ts'

export interface HttpApiOptions {
  /** Base URL of the engine's HTTP API: what comes before `/api/v1`. */
  url: string
  apiKey: string | null
  fetch?: typeof globalThis.fetch
}

// The shorthand would reorder the keys of payloads and hide their encodings.
const CONTENT_TYPE = 'application/json+no-payload-shorthand'

/** Temporal's HTTP API, with nothing but fetch: for runtimes that have no gRPC, and for proxies that pass HTTP/1.1 alone. Its messages are loaded on the first call. */
export function httpApiTransport({ url, apiKey, fetch = globalThis.fetch }: HttpApiOptions): Transport {
  const base = url.replace(/\/+$/, '')
  const headers = {
    Accept: CONTENT_TYPE,
    'Content-Type': CONTENT_TYPE,
    // Without it a run that the engine retries seems to have been continued as new.
    'Grpc-Metadata-Supported-Features': 'follows-next-run-id',
    ...(apiKey === null ? {} : { Authorization: `Bearer ${apiKey}` }),
  }

  let messages: HttpMessages | null = null

  // Kept are the messages, not the wait for them: on workerd a wait belongs to its request.
  async function loaded(): Promise<HttpMessages> {
    if (messages !== null) return messages
    const { createHttpMessages } = await import('./messages.ts')
    messages ??= createHttpMessages()
    return messages
  }

  async function send({ verb, path, body }: HttpCall, remainingMs: number, signal: AbortSignal): Promise<Answer> {
    try {
      const response = await fetch(`${base}${path}`, {
        method: verb,
        headers: { ...headers, 'Grpc-Timeout': `${remainingMs}m` },
        body,
        // Whoever redirects is not the engine, and must not get its key.
        redirect: 'manual',
        signal,
      })
      return { status: response.status, text: await response.text() }
    } catch (cause) {
      throw new RpcError('the engine can’t be reached', {
        code: GrpcCode.UNAVAILABLE,
        mayHaveBeenSent: !wasNeverSent(cause),
        cause,
      })
    }
  }

  return {
    name: 'http',
    features: HTTP_API_FEATURES,

    async call<M extends Method>(
      method: M,
      request: Request<M>,
      { deadlineAt, signal }: CallOptions,
    ): Promise<Response<M>> {
      const messages = await loaded()
      // Not before the wait: a signal that aborts meanwhile tells no later listener.
      if (signal.aborted)
        throw new RpcError('the caller went away', { code: GrpcCode.CANCELLED, mayHaveBeenSent: false })
      const remainingMs = Math.max(1, deadlineAt - Date.now())
      // One of its own for each call: a listener must not stay on what lives longer.
      const abort = new AbortController()
      const onAbort = () => abort.abort()
      const timer = setTimeout(onAbort, remainingMs)
      signal.addEventListener('abort', onAbort)
      try {
        const { status, text } = await send(messages.toCall(method, request), remainingMs, abort.signal)
        if (status === 200) return answerOf(messages, method, text)
        throw refusal(messages, status, text)
      } catch (error) {
        if (signal.aborted) throw new RpcError('the caller went away', { code: GrpcCode.CANCELLED, cause: error })
        if (abort.signal.aborted || isCancellation(error))
          throw new RpcError('no answer before the deadline', { code: GrpcCode.DEADLINE_EXCEEDED, cause: error })
        throw error
      } finally {
        clearTimeout(timer)
        signal.removeEventListener('abort', onAbort)
      }
    },

    async close() {},
  }
}

interface Answer {
  status: number
  text: string
}

function answerOf<M extends Method>({ fromAnswer }: HttpMessages, method: M, text: string): Response<M> {
  try {
    return fromAnswer(method, text)
  } catch (cause) {
    throw new RpcError('the answer is not the engine’s: look at ENGINE_HTTP_URL', { code: GrpcCode.UNKNOWN, cause })
  }
}

const CODES: ReadonlySet<number> = new Set(Object.values(GrpcCode))

/** The engine's own refusals are JSON with gRPC's code; any other answer is that of something in between. */
function refusal({ toDetails }: HttpMessages, status: number, text: string): RpcError {
  const { code, message, details } = parse(text)
  if (typeof code !== 'number' || !CODES.has(code))
    return new RpcError(`Received HTTP status code ${status}`, { code: toGrpcCode(status) })
  return new RpcError(typeof message === 'string' ? message : '', {
    code,
    details: toDetails(Array.isArray(details) ? details : []),
  })
}

function parse(text: string): { code?: unknown; message?: unknown; details?: unknown } {
  try {
    return JSON.parse(text) ?? {}
  } catch {
    // A page of a proxy's: its status has to do.
    return {}
  }
}

/** A deadline that the engine notices before us comes back as a cancellation that nobody asked for. */
function isCancellation(error: unknown): boolean {
  return error instanceof RpcError && error.code === GrpcCode.CANCELLED
}

// Node's words, in the error or its cause, and Bun's.
const NEVER_SENT_CODES = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

/** Whether no connection was made. Where the runtime does not tell (workerd), it counts as sent. */
function wasNeverSent(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('code' in error && typeof error.code === 'string' && NEVER_SENT_CODES.has(error.code)) return true
  // Deno's.
  return /client error \(Connect\)/.test(error.message) || wasNeverSent(error.cause)
}
