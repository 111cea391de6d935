import { lazy } from '../../../lib/lazy.ts'
import { type CallOptions, isLongPoll, type Method, type Request, type Response, type Transport } from '../transport.ts'
import type { GrpcConnection } from './connection.ts'
import type { GrpcOptions } from './options.ts'
import { grpcPool } from './pool.ts'

// The connections that a peak of long calls needed are closed soon after it.
const LONG_IDLE_MS = 30_000

/** Temporal over gRPC. The client library is loaded, and the connection opened, on the first call. */
export function grpcTransport(options: GrpcOptions): Transport {
  const connections = lazy(
    () => import('./connection.ts'),
    ({ grpcConnection }) => ({
      short: grpcConnection(options),
      long: grpcPool(() => grpcConnection(options, { idleTimeoutMs: LONG_IDLE_MS })),
    }),
  )

  return {
    name: 'grpc',
    features: {
      slashInIds: { supported: true },
      updateWithStart: { supported: true },
      asyncUpdates: { supported: true },
    },

    call<M extends Method>(method: M, request: Request<M>, call: CallOptions): Promise<Response<M>> {
      const send = ({ short, long }: { short: GrpcConnection; long: GrpcConnection }) =>
        (isLongCall(method, request) ? long : short).send(method, request, call)
      return connections.current === undefined ? connections.get().then(send) : send(connections.current)
    },

    async close() {
      if (connections.current === undefined) return
      const { short, long } = connections.current
      await Promise.all([short.close(), long.close()])
    },
  }
}

const WORKER_CALLS: ReadonlySet<Method> = new Set<Method>([
  'queryWorkflow',
  'updateWorkflowExecution',
  'executeMultiOperation',
  'pollWorkflowExecutionUpdate',
])

/** Whether the engine may hold the call until a worker responds or an event is recorded. */
function isLongCall(method: Method, request: object): boolean {
  return WORKER_CALLS.has(method) || isLongPoll(request)
}
