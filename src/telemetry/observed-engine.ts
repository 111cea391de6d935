/** Counts and traces what the service sends to the engine. */
import type { Engine } from '../domain/model/engine.ts'
import {
  type CallOptions,
  isLongPoll,
  isOperatorMethod,
  type Method,
  type Request,
  type Response,
  RpcError,
  type Transport,
} from '../engine/transport/transport.ts'
import { GrpcCode } from '../temporal/grpc-code.ts'
import type { HostTracer } from './host-tracer.ts'
import type { Metrics } from './metrics.ts'

/** The transport, decorated: calls have spans. Long polls have none, because requests share them. */
export function tracedTransport(transport: Transport, tracer: HostTracer): Transport {
  return {
    ...withoutCall(transport),
    call<M extends Method>(method: M, request: Request<M>, options: CallOptions): Promise<Response<M>> {
      const spans = tracer.loadedSpans
      if (spans === null || isLongPoll(request)) return transport.call(method, request, options)
      const send = (headers: Record<string, string> | null) =>
        transport.call(method, request, headers === null ? options : { ...options, headers })
      return spans.call(fullRpcName(method), send, codeName)
    },
  }
}

/** The transport, decorated: calls are counted unless `metrics` is null. */
export function measuredTransport(transport: Transport, metrics: Metrics | null): Transport {
  if (metrics === null) return transport
  return {
    ...withoutCall(transport),
    async call<M extends Method>(method: M, request: Request<M>, options: CallOptions): Promise<Response<M>> {
      const call = { method: rpcName(method), isPoll: isLongPoll(request) }
      const startedAt = performance.now()
      let code = 'OK'
      metrics.callStarted(call)
      try {
        return await transport.call(method, request, options)
      } catch (error) {
        code = codeName(error)
        throw error
      } finally {
        metrics.callEnded(call, code, performance.now() - startedAt)
      }
    },
  }
}

/** The engine, decorated: waits are counted unless `metrics` is null. */
export function measuredWaits(engine: Engine, metrics: Metrics | null): Engine {
  if (metrics === null) return engine
  return {
    ...engine,
    async wait(...args) {
      metrics.waitStarted()
      try {
        return await engine.wait(...args)
      } finally {
        metrics.waitEnded()
      }
    },
  }
}

function withoutCall(transport: Transport): Omit<Transport, 'call'> {
  return { name: transport.name, features: transport.features, close: () => transport.close() }
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
