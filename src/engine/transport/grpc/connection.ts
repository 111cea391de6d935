/**
 * A connection of the SDK's client. `grpc/transport.ts` imports this file on the first call, because the client is
 * slow to load, and bundled as CommonJS.
 */
import { Connection, type ConnectionOptions } from '@temporalio/client'
import { releasable } from '../../../lib/abort.ts'
import { GrpcCode } from '../../../temporal/grpc-code.ts'
import { type CallOptions, isOperatorMethod, type Method, type Request, type Response, RpcError } from '../transport.ts'
import { deferHttp2SessionDestroy } from './deno-http2.ts'
import type { GrpcOptions, GrpcTls } from './options.ts'
import { toRpcError } from './rpc-error.ts'

const CHANNEL_ARGS = {
  // A history page may exceed grpc-js's limit of 4 MiB. The SDK's own setting has no effect: its key has no "grpc.".
  'grpc.max_receive_message_length': 128 * 1024 * 1024,
  // Reconnects to a restarted engine within a third of a second instead of three seconds.
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1000,
  // By default all connections share one TCP connection, whose stream limit the long calls could use up.
  'grpc.use_local_subchannel_pool': 1,
}

if ('Deno' in globalThis) deferHttp2SessionDestroy()

export interface GrpcConnection {
  send<M extends Method>(method: M, request: Request<M>, options: CallOptions): Promise<Response<M>>
  close(): Promise<void>
}

export interface ConnectionBehavior {
  /** How long a connection without calls stays open. Default: half an hour, or what the engine allows. */
  idleTimeoutMs?: number
}

/** Connects on the first call, and on the first one after it was closed. */
export function grpcConnection(options: GrpcOptions, behavior: ConnectionBehavior = {}): GrpcConnection {
  const connection = Connection.lazy(toConnectionOptions(options, behavior))
  return {
    send: (method, request, call) => send(connection, method, request, call),
    close: () => connection.close(),
  }
}

async function send<M extends Method>(
  connection: Connection,
  method: M,
  request: Request<M>,
  { deadlineAt, signal, headers }: CallOptions,
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
  { idleTimeoutMs }: ConnectionBehavior,
): ConnectionOptions {
  return {
    address,
    ...(apiKey === null ? {} : { apiKey }),
    tls: tls === null ? false : toTlsConfig(tls),
    channelArgs: {
      ...CHANNEL_ARGS,
      ...(idleTimeoutMs !== undefined && { 'grpc.client_idle_timeout_ms': idleTimeoutMs }),
    },
    // The SDK's retry interceptor would exceed the deadline.
    interceptors: [],
    // Without this header the engine reports a retried run as continued as new.
    metadata: { 'supported-features': 'follows-next-run-id' },
  }
}

function toTlsConfig({ ca, cert, key, serverName }: GrpcTls): NonNullable<ConnectionOptions['tls']> {
  return {
    ...(ca === undefined ? {} : { serverRootCACertificate: Buffer.from(ca) }),
    ...(cert === undefined || key === undefined
      ? {}
      : { clientCertPair: { crt: Buffer.from(cert), key: Buffer.from(key) } }),
    ...(serverName === undefined ? {} : { serverNameOverride: serverName }),
  }
}
