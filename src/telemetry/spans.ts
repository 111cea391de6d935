/** Spans of requests and engine calls. `host-tracer.ts` imports this file when a tracer is installed. */
import {
  type Context,
  context,
  createContextKey,
  isSpanContextValid,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapGetter,
  trace,
} from '@opentelemetry/api'
import { VERSION } from '../version.ts'
import { knownMethod } from './http-method.ts'

/** Names and attributes follow https://opentelemetry.io/docs/specs/semconv/http/http-spans/, and `…/rpc/rpc-spans/` for calls. */
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

interface EndedRequest {
  method: string
  route: string | null
  status: number
  /** The name of the error response. */
  error: string | undefined
  /** Whether the service, and not the client, is the reason of the error. */
  isServerError: boolean
}

export interface RequestSpan {
  /** Null if the tracer does not trace. */
  traceId: string | null
  /** Calls `act`, and everything that it calls belongs to the span. */
  run<T>(act: () => T): T
  end(response: EndedRequest): void
}

const REQUEST = createContextKey('portico request')

export function createSpans(): Spans {
  const tracer = trace.getTracer('portico', VERSION)
  return {
    startRequest(request) {
      const active = context.active()
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

    async call(method, send, codeOf) {
      const active = context.active()
      if (!isOfOpenRequest(active)) return send(null)
      const attributes = { 'rpc.system.name': 'grpc', 'rpc.method': method }
      const span = tracer.startSpan(method, { kind: SpanKind.CLIENT, attributes }, active)
      const headers: Record<string, string> = {}
      propagation.inject(trace.setSpan(active, span), headers)
      let code = 'OK'
      try {
        return await send(headers)
      } catch (error) {
        code = codeOf(error)
        span.setStatus({ code: SpanStatusCode.ERROR })
        span.setAttribute('error.type', code)
        throw error
      } finally {
        span.setAttribute('rpc.response.status_code', code)
        span.end()
      }
    },
  }
}

function requestSpan(span: Span, parent: Context): RequestSpan {
  const state = { isOpen: true }
  const inSpan = trace.setSpan(parent, span).setValue(REQUEST, state)
  const spanContext = span.spanContext()
  return {
    traceId: isSpanContextValid(spanContext) ? spanContext.traceId : null,
    run: (act) => context.with(inSpan, act),
    end({ method, route, status, error, isServerError }) {
      state.isOpen = false
      const name = knownMethod(method)
      span.updateName(`${name === '_OTHER' ? 'HTTP' : name}${route === null ? '' : ` ${route}`}`)
      span.setAttribute('http.response.status_code', status)
      if (route !== null) span.setAttribute('http.route', route)
      if (error !== undefined) span.setAttribute('error.type', error)
      if (isServerError) span.setStatus({ code: SpanStatusCode.ERROR })
      span.end()
    },
  }
}

/** Reads that several requests share, and their long polls, may outlast the request that began them. */
function isOfOpenRequest(active: Context): boolean {
  const state = active.getValue(REQUEST)
  return state instanceof Object && 'isOpen' in state && state.isOpen === true
}

function requestAttributes({ method, url }: Request): Record<string, string> {
  const [scheme = '', rest = ''] = url.split('://', 2)
  const [path = '/'] = /\/[^?#]*/.exec(rest) ?? []
  const known = knownMethod(method)
  return {
    'http.request.method': known,
    ...(known !== method && { 'http.request.method_original': method }),
    'url.scheme': scheme,
    'url.path': path,
  }
}

const HEADERS: TextMapGetter<Headers> = {
  keys: (headers) => [...headers.keys()],
  get: (headers, name) => headers.get(name) ?? undefined,
}
