/** The codes of JSON-RPC errors. */
export const RPC_CODES = {
  invalidParams: -32602,
  internalError: -32603,
} as const

/** A JSON-RPC error as the response to a request. */
export class RpcError extends Error {
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, options: { data?: unknown; cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.name = 'RpcError'
    this.code = code
    this.data = options.data
  }
}
