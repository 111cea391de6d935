import { ServiceError } from '../domain/errors.ts'
import type { Check } from './step.ts'

/** Rejects `Idempotency-Key`: a client that sends it relies on it, and ignoring it could execute a request twice. */
export const rejectIdempotencyKey: Check = (c) => {
  if (c.req.method !== 'GET' && c.req.method !== 'HEAD' && c.req.header('Idempotency-Key') !== undefined) {
    throw new ServiceError(
      'NotSupportedError',
      'Idempotency-Key is not supported, and the request was not executed. Set workflowId instead: a second start with the same id is rejected while the workflow is open',
    )
  }
}
