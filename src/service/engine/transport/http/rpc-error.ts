/** Translates error responses of Temporal's HTTP API, and errors of `fetch`. */
import { failedToConnect } from '../../../../shared/lib/not-sent.ts'
import { GrpcCode } from '../../../../shared/temporal/grpc-code.ts'
import { toGrpcCode } from '../http-status.ts'
import { type ErrorDetail, RpcError } from '../transport.ts'

const CODES: ReadonlySet<number> = new Set(Object.values(GrpcCode))

/** The engine's own errors are JSON with a gRPC code. Any other response is from a proxy or gateway. */
export function responseError(
  status: number,
  text: string,
  toDetails: (json: readonly unknown[]) => ErrorDetail[],
): RpcError {
  const { code, message, details } = parseBody(text)
  if (typeof code !== 'number' || !CODES.has(code))
    return new RpcError(`Received HTTP status code ${status}`, { code: toGrpcCode(status) })
  return new RpcError(typeof message === 'string' ? message : '', {
    code,
    details: toDetails(Array.isArray(details) ? details : []),
  })
}

function parseBody(text: string): { code?: unknown; message?: unknown; details?: unknown } {
  try {
    return JSON.parse(text) ?? {}
  } catch {
    // Not JSON, such as the HTML page of a proxy: the status alone counts.
    return {}
  }
}

export function unreachable(cause: unknown): RpcError {
  return new RpcError('the engine is unreachable', {
    code: GrpcCode.UNAVAILABLE,
    mayHaveBeenSent: !failedToConnect(cause),
    cause,
  })
}
