/**
 * Who sees what the service does: the tracer that its host has installed (the embedding program, the runtime, or
 * `exportSpans`), and the metrics and spans of its calls to the engine.
 */
import { lazy } from '../../shared/lib/cache.ts'
import { GrpcCode } from '../../shared/temporal/grpc-code.ts'
import {
  isLongPoll,
  isOperatorMethod,
  type Method,
  type Request,
  type Response,
  RpcError,
  type Transport,
  type TransportCallOptions,
} from '../engine/transport/transport.ts'
import type { RequestSpan, RequestTracer } from '../http/pipeline/observe.ts'
import { decorated, type Engine } from '../model/engine.ts'
import type { Metrics } from './metrics.ts'
import type { Spans } from './spans.ts'

/** Nothing is loaded until a tracer is installed. */
export interface HostTracer extends RequestTracer {
  /** Null until the first request after the tracer was installed. */
  readonly loadedSpans: Spans | null
}

export function hostTracer(): HostTracer {
  const spans = lazy(
    () => import('./spans.ts'),
    ({ createSpans }) => createSpans(),
  )
  let isMissing = false

  async function load(): Promise<Spans | null> {
    try {
      return await spans.get()
    } catch {
      // The host has a copy of @opentelemetry/api that cannot be resolved from here. Requests are served without spans.
      isMissing = true
      return null
    }
  }

  return {
    startRequest(request) {
      if (spans.current !== undefined) return startSpan(spans.current, request)
      return isMissing || !isTracerInstalled() ? null : load().then((loaded) => loaded && startSpan(loaded, request))
    },
    get loadedSpans() {
      return spans.current ?? null
    },
  }
}

/** Null if the host's tracer throws: the request is served without a span. */
function startSpan(spans: Spans, request: globalThis.Request): RequestSpan | null {
  try {
    return spans.startRequest(request)
  } catch {
    return null
  }
}

// The global under which every copy of @opentelemetry/api 1.x keeps the installed tracer.
const API = Symbol.for('opentelemetry.js.api.1')

/** Whether a tracer is installed. Does not load @opentelemetry/api. */
export function isTracerInstalled(): boolean {
  const api: { trace?: unknown } | undefined = Reflect.get(globalThis, API)
  return api?.trace !== undefined
}

export interface EngineObservers {
  tracer: HostTracer
  /** Null: nothing is counted. */
  metrics: Metrics | null
}

/**
 * The transport, decorated: calls are counted, and have spans. Long polls have no spans, because requests share them.
 */
export function observedTransport(transport: Transport, { tracer, metrics }: EngineObservers): Transport {
  return {
    name: transport.name,
    features: transport.features,
    close: () => transport.close(),
    call<M extends Method>(method: M, request: Request<M>, options: TransportCallOptions): Promise<Response<M>> {
      const isPoll = isLongPoll(method, request)
      const send = () => {
        const spans = isPoll ? null : tracer.loadedSpans
        if (spans === null) return transport.call(method, request, options)
        const sendTraced = (headers: Record<string, string> | null) =>
          transport.call(method, request, headers === null ? options : { ...options, headers })
        return spans.call(fullRpcName(method), sendTraced, codeName)
      }
      return metrics === null ? send() : measure(metrics, { method: rpcName(method), isPoll }, send)
    },
  }
}

async function measure<T>(
  metrics: Metrics,
  call: { method: string; isPoll: boolean },
  send: () => Promise<T>,
): Promise<T> {
  const startedAt = performance.now()
  let code = 'OK'
  metrics.callStarted(call)
  try {
    return await send()
  } catch (error) {
    code = codeName(error)
    throw error
  } finally {
    metrics.callEnded(call, code, performance.now() - startedAt)
  }
}

/** The engine, decorated: waits are counted unless `metrics` is null. */
export function measuredWaits(engine: Engine, metrics: Metrics | null): Engine {
  if (metrics === null) return engine
  async function measured<T>(wait: Promise<T>): Promise<T> {
    metrics?.waitStarted()
    try {
      return await wait
    } finally {
      metrics?.waitEnded()
    }
  }
  return decorated(engine, {
    wait: (...args) => measured(engine.wait(...args)),
    waitForActivity: (...args) => measured(engine.waitForActivity(...args)),
  })
}

const CODE_NAMES: ReadonlyMap<number, string> = new Map(Object.entries(GrpcCode).map(([name, code]) => [code, name]))

/** `describeWorkflowExecution` is `DescribeWorkflowExecution` in Temporal's API. */
function rpcName(method: Method): string {
  return `${method.charAt(0).toUpperCase()}${method.slice(1)}`
}

/** With the name of its service, as in the path of a gRPC call. */
function fullRpcName(method: Method): string {
  const service = isOperatorMethod(method) ? 'operatorservice.v1.OperatorService' : 'workflowservice.v1.WorkflowService'
  return `temporal.api.${service}/${rpcName(method)}`
}

/** The name of the gRPC status code with which a call failed. */
function codeName(error: unknown): string {
  return (error instanceof RpcError ? CODE_NAMES.get(error.code) : undefined) ?? 'UNKNOWN'
}
