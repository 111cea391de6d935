import { GrpcCode } from '../../../shared/temporal/grpc-code.ts'

/**
 * The gRPC code for the HTTP status of a proxy or gateway in front of the engine.
 *
 * It follows https://github.com/grpc/grpc/blob/master/doc/http-grpc-status-mapping.md, except that a proxy's 404 or 400
 * is never the engine's NOT_FOUND or UNIMPLEMENTED.
 */
export function toGrpcCode(httpStatus: number): number {
  switch (httpStatus) {
    case 401: // Unauthorized
      return GrpcCode.UNAUTHENTICATED
    case 403: // Forbidden
      return GrpcCode.PERMISSION_DENIED
    case 413: // Content Too Large
      return GrpcCode.INVALID_ARGUMENT
    case 408: // Request Timeout
    case 429: // Too Many Requests
    case 502: // Bad Gateway
    case 503: // Service Unavailable
    case 504: // Gateway Timeout
      return GrpcCode.UNAVAILABLE
    default:
      // A redirect or any other client error would be the same on the next attempt.
      return httpStatus >= 300 && httpStatus < 500 ? GrpcCode.INTERNAL : GrpcCode.UNKNOWN
  }
}
