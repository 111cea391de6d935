/** Translates error responses of Temporal's HTTP API, and errors of `fetch`. */
import { errorCode } from '../../../lib/error-code.ts'
import { GrpcCode } from '../../../temporal/grpc-code.ts'
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

// The codes of Node, in the error or its cause, and of Bun.
const CONNECT_ERROR_CODES: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

/** Whether no connection was made, so that nothing was sent. False where the runtime does not say (workerd). */
function failedToConnect(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (CONNECT_ERROR_CODES.has(errorCode(error))) return true
  // The message of Deno.
  return /client error \(Connect\)/.test(error.message) || failedToConnect(error.cause)
}
