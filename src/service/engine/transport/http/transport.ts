import { deadlineSignal } from '../../../../shared/lib/abort.ts'
import { lazy } from '../../../../shared/lib/cache.ts'
import { sentOnce } from '../../../../shared/lib/sent-once.ts'
import { GrpcCode } from '../../../../shared/temporal/grpc-code.ts'
import {
  type Method,
  type Request,
  type Response,
  RpcError,
  type Transport,
  type TransportCallOptions,
} from '../transport.ts'
import { HTTP_API_FEATURES } from './features.ts'
import type { HttpCall, HttpMessages } from './messages.ts'
import { responseError, unreachable } from './rpc-error.ts'

export interface HttpApiOptions {
  /** Base URL of Temporal's HTTP API, without `/api/v1`. */
  url: string
  apiKey: string | null
  fetch?: typeof globalThis.fetch
}

// The shorthand form of payloads would reorder their keys and hide their encodings.
const CONTENT_TYPE = 'application/json+no-payload-shorthand'

/**
 * Temporal's HTTP API over `fetch`, for runtimes without gRPC and for proxies that only support HTTP/1.1. The message
 * types are loaded on the first call.
 */
export function httpApiTransport({ url, apiKey, fetch = globalThis.fetch }: HttpApiOptions): Transport {
  const base = url.replace(/\/+$/, '')
  const headers = {
    Accept: CONTENT_TYPE,
    'Content-Type': CONTENT_TYPE,
    // Without this header the engine reports a retried run as continued as new.
    'Grpc-Metadata-Supported-Features': 'follows-next-run-id',
    ...(apiKey === null ? {} : { Authorization: `Bearer ${apiKey}` }),
  }
  const lazyMessages = lazy(
    () => import('./messages.ts'),
    ({ createHttpMessages }) => createHttpMessages(),
  )

  async function send(
    { verb, path, body }: HttpCall,
    remainingMs: number,
    { signal, headers: ofCall }: Pick<TransportCallOptions, 'headers' | 'signal'>,
  ): Promise<HttpResponse> {
    try {
      const response = await fetch(`${base}${path}`, {
        method: verb,
        headers: { ...headers, ...ofCall, 'Grpc-Timeout': `${remainingMs}m` },
        ...sentOnce(verb, body ?? undefined),
        // The engine never redirects, and a redirect target must not get the API key.
        redirect: 'manual',
        signal,
      })
      return { status: response.status, text: await response.text() }
    } catch (error) {
      throw unreachable(error)
    }
  }

  return {
    name: 'http',
    features: HTTP_API_FEATURES,

    async call<M extends Method>(
      method: M,
      request: Request<M>,
      { deadlineAt, signal, headers }: TransportCallOptions,
    ): Promise<Response<M>> {
      const messages = await lazyMessages.get()
      // Checked after loading: the signal may have aborted meanwhile.
      if (signal.aborted) throw abortedByCaller()
      const remainingMs = Math.max(1, deadlineAt - Date.now())
      // Every call gets a signal of its own: listeners must not accumulate on the caller's.
      const linked = deadlineSignal(Date.now() + remainingMs, signal)
      try {
        const { status, text } = await send(messages.toCall(method, request), remainingMs, {
          signal: linked.signal,
          ...(headers && { headers }),
        })
        if (status === 200) return parseResponse(messages, method, text)
        throw responseError(status, text, messages.toDetails)
      } catch (error) {
        if (signal.aborted) throw abortedByCaller(error)
        if (linked.signal.aborted || isCancellation(error))
          throw new RpcError('no response before the deadline', { code: GrpcCode.DEADLINE_EXCEEDED, cause: error })
        throw error
      } finally {
        linked.release()
      }
    },

    async close() {},
  }
}

interface HttpResponse {
  status: number
  text: string
}

/** Without `cause` the request has not been sent. */
function abortedByCaller(cause?: unknown): RpcError {
  return new RpcError('the caller aborted the call', {
    code: GrpcCode.CANCELLED,
    mayHaveBeenSent: cause !== undefined,
    cause,
  })
}

/** If the engine notices the deadline before we do, it returns CANCELLED. */
function isCancellation(error: unknown): boolean {
  return error instanceof RpcError && error.code === GrpcCode.CANCELLED
}

function parseResponse<M extends Method>({ fromResponse }: HttpMessages, method: M, text: string): Response<M> {
  try {
    return fromResponse(method, text)
  } catch (cause) {
    throw new RpcError("the response is not from Temporal's HTTP API: check ENGINE_HTTP_URL", {
      code: GrpcCode.UNKNOWN,
      cause,
    })
  }
}
