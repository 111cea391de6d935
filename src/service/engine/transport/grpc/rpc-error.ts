/** Translates the errors of grpc-js. */
import proto, { type google } from '@temporalio/proto'
import { GrpcCode } from '../../../../shared/temporal/grpc-code.ts'
import { toGrpcCode } from '../http-status.ts'
import { type ErrorDetail, RpcError, shortName } from '../transport.ts'

/**
 * Errors that are not from gRPC are returned unchanged. `aborted`: whether the caller's own signal aborted the call.
 */
export function toRpcError(error: unknown, aborted: boolean): unknown {
  if (!isGrpcError(error)) return error
  return new RpcError(error.details, {
    code: codeOf(error, aborted),
    details: statusDetails(error),
    mayHaveBeenSent: !/^(No connection established|Name resolution failed)/.test(error.details),
    cause: error,
  })
}

interface GrpcError extends Error {
  code: number
  details: string
  metadata?: { get(key: string): unknown[] }
}

function codeOf({ code, details }: GrpcError, aborted: boolean): number {
  const [, httpStatus] = /^Received HTTP status code (\d+)/.exec(details) ?? []
  if (httpStatus !== undefined) return toGrpcCode(Number(httpStatus))
  // The server's reset of the stream often arrives before our own deadline.
  if (code === GrpcCode.CANCELLED && !aborted) return GrpcCode.DEADLINE_EXCEEDED
  // A proxy is at its limit. When the engine is at its own limit, the error has details.
  if (code === GrpcCode.RESOURCE_EXHAUSTED && /^Bandwidth exhausted or memory limit exceeded/.test(details))
    return GrpcCode.UNAVAILABLE
  // Deno reports a connection that broke during the call as INTERNAL; Node and Bun report UNAVAILABLE.
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
    // Not a google.rpc.Status: the error keeps its code and message.
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

/** A failed ExecuteMultiOperation has one status for each operation, with details of its own. */
function toStatuses(statuses: unknown, types: ReadonlyMap<string, Partial<MessageType>>): object[] {
  const given = statuses as { code?: number; message?: string; details?: google.protobuf.IAny[] }[]
  return given.map(({ code = 0, message = '', details = [] }) => ({
    code,
    message,
    details: details.map((detail) => toErrorDetail(detail, types)),
  }))
}
