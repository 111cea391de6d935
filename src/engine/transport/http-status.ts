import { GrpcCode } from '../../temporal/grpc-code.ts'

/** What an HTTP status means that is not the engine's but of something in between. As gRPC reads it, but that a refusal of that thing's is never one of the engine's: https://github.com/grpc/grpc/blob/master/doc/http-grpc-status-mapping.md */
export function codeOfHttpStatus(status: number): number {
  switch (status) {
    case 401:
      return GrpcCode.UNAUTHENTICATED
    case 403:
      return GrpcCode.PERMISSION_DENIED
    case 413:
      return GrpcCode.INVALID_ARGUMENT
    case 408:
    case 429:
    case 502:
    case 503:
    case 504:
      return GrpcCode.UNAVAILABLE
    default:
      // Redirects and other refusals would be the same again.
      return status >= 300 && status < 500 ? GrpcCode.INTERNAL : GrpcCode.UNKNOWN
  }
}
