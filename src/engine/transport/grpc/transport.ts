import type { CallOptions, Method, Request, Response, Transport } from '../transport.ts'
import type { GrpcConnection } from './connection.ts'
import { grpcPool } from './pool.ts'

export interface GrpcOptions {
  /** `<host>:<port>` */
  address: string
  apiKey: string | null
  /** Null: no TLS, even with an API key. */
  tls: GrpcTls | null
}

/** PEM texts; absent: the system's trust, no client certificate, the address's own name. */
export interface GrpcTls {
  ca?: string
  cert?: string
  key?: string
  serverName?: string
}

const HELD: ReadonlySet<Method> = new Set<Method>(['queryWorkflow', 'updateWorkflowExecution', 'executeMultiOperation'])

/** Whether the engine answers only when a worker has, or an event comes: such calls must not hold up the short ones. */
function mayBeHeld(method: Method, request: object): boolean {
  return HELD.has(method) || ('waitNewEvent' in request && request.waitNewEvent === true)
}

/** Temporal over gRPC. The client library is loaded, and the connection made, on the first call. */
export function grpcTransport(options: GrpcOptions): Transport {
  let connections: { short: GrpcConnection; long: GrpcConnection } | null = null

  // What is kept are the connections, not the wait for them: were the client not to be loaded once, it would be so for ever.
  async function connected() {
    const { grpcConnection } = await import('./connection.ts')
    connections ??= { short: grpcConnection(options), long: grpcPool(() => grpcConnection(options)) }
    return connections
  }

  return {
    name: 'grpc',
    features: { slashInIds: { supported: true }, updateWithStart: { supported: true } },

    async call<M extends Method>(method: M, request: Request<M>, call: CallOptions): Promise<Response<M>> {
      const { short, long } = connections ?? (await connected())
      return (mayBeHeld(method, request) ? long : short).send(method, request, call)
    },

    async close() {
      if (connections === null) return
      const { short, long } = connections
      await Promise.all([short.close(), long.close()])
    },
  }
}
