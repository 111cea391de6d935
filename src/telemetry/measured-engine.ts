/** Counts what the service asks of the engine. */
import type { Engine } from '../domain/engine.ts'
import {
  isLongPoll,
  type Method,
  type Request,
  type Response,
  RpcError,
  type Transport,
} from '../engine/transport/transport.ts'
import { GrpcCode } from '../temporal/grpc-code.ts'
import type { Metrics } from './metrics.ts'

const OK = 0

/** The same transport, whose calls are counted unless `metrics` is null. */
export function measuredTransport(transport: Transport, metrics: Metrics | null): Transport {
  if (metrics === null) return transport
  return {
    name: transport.name,
    features: transport.features,
    async call<M extends Method>(
      method: M,
      request: Request<M>,
      options: Parameters<Transport['call']>[2],
    ): Promise<Response<M>> {
      const call = { method: rpcName(method), isPoll: isLongPoll(request) }
      const startedAt = performance.now()
      let code: number = OK
      metrics.callStarted(call)
      try {
        return await transport.call(method, request, options)
      } catch (error) {
        code = error instanceof RpcError ? error.code : GrpcCode.UNKNOWN
        throw error
      } finally {
        metrics.callEnded(call, code, performance.now() - startedAt)
      }
    },
    close: () => transport.close(),
  }
}

/** The same engine, whose waits are counted unless `metrics` is null. */
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

/** `describeWorkflowExecution` is `DescribeWorkflowExecution` in Temporal's API. */
function rpcName(method: Method): string {
  return `${method.charAt(0).toUpperCase()}${method.slice(1)}`
}
