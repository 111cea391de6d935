import type { RequestId } from './protocol.ts'

/** The codes of JSON-RPC errors. */
export const RPC_CODES = {
  parseError: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internalError: -32_603,
  headerMismatch: -32_020,
  missingCapability: -32_021,
  unsupportedVersion: -32_022,
} as const

/** What an error rejects: the whole message, or its method. Absent for other errors, such as a wrong parameter. */
export type Rejected = 'message' | 'method'

/** A JSON-RPC error as the response to a request. */
export class JsonRpcError extends Error {
  readonly code: number
  readonly data: unknown
  readonly rejected: Rejected | undefined

  constructor(code: number, message: string, options: { data?: unknown; cause?: unknown; rejected?: Rejected } = {}) {
    super(message, { cause: options.cause })
    this.name = 'JsonRpcError'
    this.code = code
    this.data = options.data
    this.rejected = options.rejected
  }
}

/** The error for a parameter that names nothing, or is not valid. */
export function invalidParams(message: string): JsonRpcError {
  return new JsonRpcError(RPC_CODES.invalidParams, message)
}

/** Without an id for a message whose id could not be read. */
export function errorResponse(id: RequestId | null, { code, message, data }: JsonRpcError): object {
  return { jsonrpc: '2.0', ...(id !== null && { id }), error: { code, message, ...(data !== undefined && { data }) } }
}
