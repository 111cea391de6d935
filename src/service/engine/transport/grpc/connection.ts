/**
 * A connection of the SDK's client. `grpc/transport.ts` imports this file on the first call, because the client is
 * slow to load, and bundled as CommonJS.
 */
import { Connection, type ConnectionOptions } from '@temporalio/client'
import { releasable } from '../../../../shared/lib/abort.ts'
import { GrpcCode } from '../../../../shared/temporal/grpc-code.ts'
import {
  isOperatorMethod,
  type Method,
  type Request,
  type Response,
  RpcError,
  type TransportCallOptions,
} from '../transport.ts'
import { deferHttp2SessionDestroy } from './deno-http2.ts'
import type { GrpcOptions } from './options.ts'
import { toRpcError } from './rpc-error.ts'
import { type TlsCredentials, tlsCredentials } from './tls-credentials.ts'

export { tlsCredentials }

const CHANNEL_ARGS = {
  // A history page may exceed grpc-js's limit of 4 MiB. The SDK's own setting has no effect: its key has no "grpc.".
  'grpc.max_receive_message_length': 128 * 1024 * 1024,
  // Reconnects to a restarted engine within a third of a second instead of three seconds.
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1000,
  // Finds an engine that has another address after a second instead of half a minute.
  'grpc.dns_min_time_between_resolutions_ms': 1000,
  // By default all connections share one TCP connection, whose stream limit the long calls could use up.
  'grpc.use_local_subchannel_pool': 1,
}

if ('Deno' in globalThis) deferHttp2SessionDestroy()

export interface GrpcConnection {
  send<M extends Method>(method: M, request: Request<M>, options: TransportCallOptions): Promise<Response<M>>
  close(): Promise<void>
}

export interface ConnectionBehavior {
  /** How long a connection without calls stays open. Default: half an hour, or what the engine allows. */
  idleTimeoutMs?: number
}

/** Connects on the first call, and on the first one after it was closed. */
export function grpcConnection(
  options: GrpcOptions,
  credentials: TlsCredentials | null,
  behavior: ConnectionBehavior = {},
): GrpcConnection {
  const connection = Connection.lazy(toConnectionOptions(options, credentials, behavior))
  return {
    send: (method, request, call) => send(connection, method, request, call),
    close: () => connection.close(),
  }
}

async function send<M extends Method>(
  connection: Connection,
  method: M,
  request: Request<M>,
  { deadlineAt, signal, headers }: TransportCallOptions,
): Promise<Response<M>> {
  if (signal.aborted)
    throw new RpcError('the caller aborted the call', { code: GrpcCode.CANCELLED, mayHaveBeenSent: false })
  // The SDK never removes its listener from the signal that it is given.
  const abortable = releasable(signal)
  try {
    const { workflowService, operatorService } = connection
    const service: unknown = isOperatorMethod(method) ? operatorService : workflowService
    const calls = service as Record<M, (request: Request<M>) => Promise<Response<M>>>
    // One context, with what `withDeadline`, `withAbortSignal` and `withMetadata` would set in three.
    const context = { deadline: deadlineAt, abortSignal: abortable.signal, ...(headers && { metadata: headers }) }
    return await connection.callContextStorage.run(context, () => calls[method](request))
  } catch (error) {
    throw toRpcError(error, signal.aborted)
  } finally {
    abortable.release()
  }
}

function toConnectionOptions(
  { address, apiKey, tls }: GrpcOptions,
  credentials: TlsCredentials | null,
  { idleTimeoutMs }: ConnectionBehavior,
): ConnectionOptions {
  return {
    address,
    // Beside `credentials` the SDK rejects its options `tls` and `apiKey`.
    tls: false,
    ...(credentials !== null && { credentials: credentials.channel }),
    channelArgs: {
      ...CHANNEL_ARGS,
      ...(idleTimeoutMs !== undefined && { 'grpc.client_idle_timeout_ms': idleTimeoutMs }),
      ...(tls?.serverName !== undefined && {
        'grpc.ssl_target_name_override': tls.serverName,
        'grpc.default_authority': tls.serverName,
      }),
    },
    // The SDK's retry interceptor would exceed the deadline.
    interceptors: [],
    metadata: {
      // Without this header the engine reports a retried run as continued as new.
      'supported-features': 'follows-next-run-id',
      ...(apiKey !== null && { Authorization: `Bearer ${apiKey}` }),
    },
  }
}
