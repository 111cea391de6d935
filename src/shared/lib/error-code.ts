/** The `code` of an error, such as `ENOENT` or a gRPC status code; undefined when it has none. */
export function errorCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
