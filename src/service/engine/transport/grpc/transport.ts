/** Any number of concurrent calls, over as many connections as they need. */
import { lazy } from '../../../../shared/lib/cache.ts'
import {
  isLongPoll,
  type Method,
  type Request,
  type Response,
  type Transport,
  type TransportCallOptions,
} from '../transport.ts'
import type { GrpcConnection } from './connection.ts'
import type { GrpcOptions } from './options.ts'

// The connections that a peak of long calls needed are closed soon after it.
const LONG_IDLE_MS = 30_000

/** Temporal over gRPC. The client library is loaded, and the connection opened, on the first call. */
export function grpcTransport(options: GrpcOptions): Transport {
  const connections = lazy(
    () => import('./connection.ts'),
    ({ grpcConnection, tlsCredentials }) => {
      const credentials = options.tls === null ? null : tlsCredentials(options.tls)
      return {
        credentials,
        short: grpcConnection(options, credentials),
        long: grpcPool(() => grpcConnection(options, credentials, { idleTimeoutMs: LONG_IDLE_MS })),
      }
    },
  )

  return {
    name: 'grpc',
    features: {
      slashInIds: { supported: true },
      updateWithStart: { supported: true },
      asyncUpdates: { supported: true },
    },

    call<M extends Method>(method: M, request: Request<M>, call: TransportCallOptions): Promise<Response<M>> {
      const send = ({ short, long }: { short: GrpcConnection; long: GrpcConnection }) =>
        (isLongCall(method, request) ? long : short).send(method, request, call)
      return connections.current === undefined ? connections.get().then(send) : send(connections.current)
    },

    async close() {
      if (connections.current === undefined) return
      const { credentials, short, long } = connections.current
      credentials?.close()
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
  return WORKER_CALLS.has(method) || isLongPoll(method, request)
}

// A usual limit of proxies and servers for the streams of one connection. Further calls would have to wait.
const MAX_CALLS = 100

// Enough for 3200 calls. More calls share these connections, and wait for each other if the server limits the streams.
const MAX_CONNECTIONS = 32

interface Member {
  connection: GrpcConnection
  calls: number
}

/**
 * Uses the first connection that is not full, so that the last ones become idle when there are fewer calls. A member
 * stays when its connection is closed, because its next call opens it again.
 */
export function grpcPool(connect: () => GrpcConnection): GrpcConnection {
  const members: Member[] = []

  function connectionWithRoom(): Member {
    const found = members.find(({ calls }) => calls < MAX_CALLS)
    if (found !== undefined) return found
    if (members.length === MAX_CONNECTIONS)
      return members.reduce((least, member) => (member.calls < least.calls ? member : least))
    const added: Member = { connection: connect(), calls: 0 }
    members.push(added)
    return added
  }

  return {
    async send<M extends Method>(method: M, request: Request<M>, options: TransportCallOptions): Promise<Response<M>> {
      const member = connectionWithRoom()
      member.calls++
      try {
        return await member.connection.send(method, request, options)
      } finally {
        member.calls--
      }
    },
    close: async () => void (await Promise.all(members.map(({ connection }) => connection.close()))),
  }
}
