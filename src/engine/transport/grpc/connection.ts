/** A connection of the SDK's client. A file of its own: what is loaded later must not need what bundles load CommonJS with, which takes Deno 15 ms. */
import { Connection, type ConnectionOptions } from '@temporalio/client'
import proto, { type google } from '@temporalio/proto'
import { GrpcCode } from '../../../temporal/grpc-code.ts'
import { toGrpcCode } from '../http-status.ts'
import {
  type CallOptions,
  type ErrorDetail,
  type Method,
  type Request,
  type Response,
  RpcError,
  shortName,
} from '../transport.ts'
import { deferHttp2SessionDestroy } from './deno-http2.ts'
import type { GrpcOptions, GrpcTls } from './transport.ts'

const CHANNEL_ARGS = {
  // A history page may pass grpc-js's own limit of 4 MiB by far; the SDK's setting for it has no effect (its key lacks the prefix).
  'grpc.max_receive_message_length': 128 * 1024 * 1024,
  // An engine that restarts is found again within a third of a second instead of three.
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1000,
  // Else all connections would share one TCP stream, and held calls that take up a peer's stream limit would block all other calls.
  'grpc.use_local_subchannel_pool': 1,
}

if ('Deno' in globalThis) deferHttp2SessionDestroy()

export interface GrpcConnection {
  send<M extends Method>(method: M, request: Request<M>, options: CallOptions): Promise<Response<M>>
  close(): Promise<void>
}

/** Connects with the first call. */
export function grpcConnection(options: GrpcOptions): GrpcConnection {
  const connection = Connection.lazy(toConnectionOptions(options))
  return {
    send: (method, request, call) => send(connection, method, request, call),
    close: () => connection.close(),
  }
}

async function send<M extends Method>(
  connection: Connection,
  method: M,
  request: Request<M>,
  { deadlineAt, signal }: CallOptions,
): Promise<Response<M>> {
  if (signal.aborted) throw new RpcError('the caller went away', { code: GrpcCode.CANCELLED, mayHaveBeenSent: false })
  // The SDK never takes its listener off the signal it is given: it gets one of its own that dies with the call.
  const abort = new AbortController()
  const onAbort = () => abort.abort()
  signal.addEventListener('abort', onAbort)
  try {
    const service = connection.workflowService as unknown as Record<M, (request: Request<M>) => Promise<Response<M>>>
    return await connection.withDeadline(deadlineAt, () =>
      connection.withAbortSignal(abort.signal, () => service[method](request)),
    )
  } catch (error) {
    throw toRpcError(error, signal.aborted)
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

function toConnectionOptions({ address, apiKey, tls }: GrpcOptions): ConnectionOptions {
  return {
    address,
    ...(apiKey === null ? {} : { apiKey }),
    tls: tls === null ? false : toTlsConfig(tls),
    channelArgs: CHANNEL_ARGS,
    // The SDK's retries overrun the deadline.
    interceptors: [],
    // Without it a run that the engine retries seems to have been continued as new.
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

interface GrpcError extends Error {
  code: number
  details: string
  metadata?: { get(key: string): unknown[] }
}

function toRpcError(error: unknown, aborted: boolean): unknown {
  if (!isGrpcError(error)) return error
  return new RpcError(error.details, {
    code: codeOf(error, aborted),
    details: statusDetails(error),
    mayHaveBeenSent: !/^(No connection established|Name resolution failed)/.test(error.details),
    cause: error,
  })
}

function codeOf({ code, details }: GrpcError, aborted: boolean): number {
  const [, httpStatus] = /^Received HTTP status code (\d+)/.exec(details) ?? []
  if (httpStatus !== undefined) return toGrpcCode(Number(httpStatus))
  // The server's reset of the stream often overtakes our own deadline: CANCELLED that nobody asked for is DEADLINE_EXCEEDED.
  if (code === GrpcCode.CANCELLED && !aborted) return GrpcCode.DEADLINE_EXCEEDED
  // A proxy that has no room for this call. The engine's own limits have details.
  if (code === GrpcCode.RESOURCE_EXHAUSTED && /^Bandwidth exhausted or memory limit exceeded/.test(details))
    return GrpcCode.UNAVAILABLE
  // Deno's word for a connection that broke under the call; Node and Bun say UNAVAILABLE.
  if (code === GrpcCode.INTERNAL && /^Received RST_STREAM with code \d+ (?:triggered by|\(Call ended)/.test(details))
    return GrpcCode.UNAVAILABLE
  return code
}

function isGrpcError(error: unknown): error is GrpcError {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'number' &&
    'details' in error &&
    typeof error.details === 'string'
  )
}

function statusDetails({ metadata }: GrpcError): ErrorDetail[] {
  const [bytes] = metadata?.get('grpc-status-details-bin') ?? []
  if (!(bytes instanceof Uint8Array)) return []
  const types = new Map<string, Partial<MessageType>>(Object.entries(proto.temporal.api.errordetails.v1))
  try {
    const { details } = proto.google.rpc.Status.decode(bytes)
    return details.map((detail) => toErrorDetail(detail, types))
  } catch {
    // Not a Status: the code and the text have to do.
    return []
  }
}

interface MessageType {
  decode(bytes: Uint8Array): object
}

function toErrorDetail(
  { type_url, value }: google.protobuf.IAny,
  types: ReadonlyMap<string, Partial<MessageType>>,
): ErrorDetail {
  const name = shortName(type_url ?? '')
  const fields = types.get(name)?.decode?.(value ?? new Uint8Array()) ?? {}
  return { name, fields: 'statuses' in fields ? { ...fields, statuses: toStatuses(fields.statuses, types) } : fields }
}

/** The statuses of a refusal of several operations have details of their own. */
function toStatuses(statuses: unknown, types: ReadonlyMap<string, Partial<MessageType>>): object[] {
  const given = statuses as { code?: number; message?: string; details?: google.protobuf.IAny[] }[]
  return given.map(({ code = 0, message = '', details = [] }) => ({
    code,
    message,
    details: details.map((detail) => toErrorDetail(detail, types)),
  }))
}
