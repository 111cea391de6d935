import { Code } from './transport.ts'

/** What an HTTP status means that is not the engine's but of something in between. As gRPC reads it, but that a refusal of that thing's is never one of the engine's: https://github.com/grpc/grpc/blob/master/doc/http-grpc-status-mapping.md */
export function codeOfHttpStatus(status: number): number {
  switch (status) {
    case 401:
      return Code.UNAUTHENTICATED
    case 403:
      return Code.PERMISSION_DENIED
    case 413:
      return Code.INVALID_ARGUMENT
    case 408:
    case 429:
    case 502:
    case 503:
    case 504:
      return Code.UNAVAILABLE
    default:
      // Redirects and other refusals would be the same again.
      return status >= 300 && status < 500 ? Code.INTERNAL : Code.UNKNOWN
  }
}
