/** Spans of requests and engine calls. `observers.ts` imports this file when a tracer is installed. */
import {
  type Context,
  context,
  INVALID_TRACEID,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapGetter,
  trace,
} from '@opentelemetry/api'
import { VERSION } from '../../version.ts'
import type { RequestSpan } from '../http/pipeline/observe.ts'
import { knownMethod } from './http-method.ts'

/**
 * Names and attributes follow https://opentelemetry.io/docs/specs/semconv/http/http-spans/,
 * and `…/rpc/rpc-spans/` for calls.
 */
export interface Spans {
  startRequest(request: Request): RequestSpan
  /**
   * Sends a call of the engine, with the headers that continue the trace of the current request. A call that no open
   * request makes has neither a span nor headers.
   */
  call<T>(
    method: string,
    send: (headers: Record<string, string> | null) => Promise<T>,
    codeOf: (error: unknown) => string,
  ): Promise<T>
}

type EndedRequest = Parameters<RequestSpan['end']>[0]

/** The spans of the requests to all services of this process. */
const requests = new WeakSet<Span>()

// Reads that several requests share, and their long polls, may outlast the request that began them.
const openRequests = new WeakSet<Span>()

export function createSpans(): Spans {
  const tracer = trace.getTracer('portico', VERSION)

  function requestSpan(span: Span, parent: Context): RequestSpan {
    const { traceId } = span.spanContext()
    requests.add(span)
    openRequests.add(span)
    return {
      traceId: traceId === INVALID_TRACEID ? null : traceId,
      run: (act) => context.with(trace.setSpan(parent, span), act),
      contextHeaders: () => headersOf(trace.setSpan(parent, span)),
      end(response) {
        openRequests.delete(span)
        if (span.isRecording()) describeResponse(span, response)
        span.end()
      },
    }
  }

  return {
    startRequest(request) {
      const found = context.active()
      const foundSpan = trace.getSpan(found)
      // Deno handles every request after an `import()` in the context of the request that called it.
      const active = foundSpan !== undefined && requests.has(foundSpan) ? ROOT_CONTEXT : found
      // A host that traces HTTP itself has already read `traceparent`, and its span is the one of the server.
      const isInside = trace.getSpan(active) !== undefined
      const parent = isInside ? active : propagation.extract(active, request.headers, HEADERS)
      const span = tracer.startSpan(
        request.method,
        { kind: isInside ? SpanKind.INTERNAL : SpanKind.SERVER, attributes: requestAttributes(request) },
        parent,
      )
      return requestSpan(span, parent)
    },

    call(method, send, codeOf) {
      const active = context.active()
      const request = trace.getSpan(active)
      if (request === undefined || !openRequests.has(request)) return send(null)
      // If the request is not recorded, its calls have no spans. The engine gets the request's context, which says so.
      if (!request.isRecording()) return send(headersOf(active))
      const attributes = { 'rpc.system.name': 'grpc', 'rpc.method': method }
      const span = tracer.startSpan(method, { kind: SpanKind.CLIENT, attributes }, active)
      return endWith(span, send(headersOf(trace.setSpan(active, span))), codeOf)
    },
  }
}

function describeResponse(span: Span, { method, route, status, error, isServerError }: EndedRequest): void {
  const name = knownMethod(method)
  span.updateName(`${name === '_OTHER' ? 'HTTP' : name}${route === null ? '' : ` ${route}`}`)
  span.setAttribute('http.response.status_code', status)
  if (route !== null) span.setAttribute('http.route', route)
  if (error !== undefined) span.setAttribute('error.type', error)
  if (isServerError) span.setStatus({ code: SpanStatusCode.ERROR })
}

function headersOf(active: Context): Record<string, string> {
  const headers: Record<string, string> = {}
  propagation.inject(active, headers)
  return headers
}

/** Settles as `call` does, and ends its span. */
async function endWith<T>(span: Span, call: Promise<T>, codeOf: (error: unknown) => string): Promise<T> {
  let code = 'OK'
  try {
    return await call
  } catch (error) {
    code = codeOf(error)
    span.setStatus({ code: SpanStatusCode.ERROR })
    span.setAttribute('error.type', code)
    throw error
  } finally {
    span.setAttribute('rpc.response.status_code', code)
    span.end()
  }
}

function requestAttributes({ method, url }: Request): Record<string, string> {
  const known = knownMethod(method)
  return {
    'http.request.method': known,
    ...(known !== method && { 'http.request.method_original': method }),
    'url.scheme': url.slice(0, url.indexOf(':')),
    // Whoever has the token of a link can use the link.
    'url.path': pathOf(url).replace(LINK_TOKEN, '/links/REDACTED'),
  }
}

// Shorter than any token, and longer than the other names in such a place.
const LINK_TOKEN = /\/links\/[^/]{40,}/

function pathOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('//') + 2)
  if (start === -1) return '/'
  const end = url.slice(start).search(/[?#]/)
  return end === -1 ? url.slice(start) : url.slice(start, start + end)
}

const HEADERS: TextMapGetter<Headers> = {
  keys: (headers) => [...headers.keys()],
  get: (headers, name) => headers.get(name) ?? undefined,
}
