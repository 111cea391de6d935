/** Errors of the engine, and what the service makes of them. */

import { type RequestFacts, toServiceError } from '../../../../src/service/engine/errors.ts'
import { type ErrorDetail, RpcError } from '../../../../src/service/engine/transport/transport.ts'
import type { ErrorFacts } from '../../../../src/service/model/errors.ts'
import { ServiceError } from '../../../../src/service/model/errors.ts'
import { GrpcCode } from '../../../../src/shared/temporal/grpc-code.ts'

export const READ: RequestFacts = { kind: 'read', details: { workflowId: 'orders-17' } }
export const WRITE: RequestFacts = { kind: 'write', details: { workflowId: 'orders-17' } }

/** The request may have arrived. */
export const LOST = new RpcError('connection dropped', { code: GrpcCode.UNAVAILABLE })
export const UNSENT = new RpcError('No connection established', { code: GrpcCode.UNAVAILABLE, mayHaveBeenSent: false })

export function detail(name: string, fields: object = {}): ErrorDetail {
  return { name, fields }
}

export function answer(code: number, message = 'text of the engine', ...details: ErrorDetail[]): RpcError {
  return new RpcError(message, { code, details })
}

/** The rate limit of the namespace is reached. */
export const LIMITED = answer(
  GrpcCode.RESOURCE_EXHAUSTED,
  'namespace rate limit exceeded',
  detail('ResourceExhaustedFailure'),
)

export function translated(
  error: RpcError,
  request: RequestFacts = READ,
): { error: string; message: string } & ErrorFacts {
  const translation = toServiceError(error, request)
  if (!(translation instanceof ServiceError)) throw new Error('not translated', { cause: translation })
  return { error: translation.error, message: translation.message, ...translation.details }
}
