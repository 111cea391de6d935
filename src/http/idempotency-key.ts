import type { MiddlewareHandler } from 'hono'
import { ServiceError } from '../domain/errors.ts'

/** A client that sends `Idempotency-Key` relies on it: to ignore the key would do the work twice. */
export const refuseIdempotencyKey: MiddlewareHandler = async (c, next) => {
  if (c.req.method !== 'GET' && c.req.method !== 'HEAD' && c.req.header('Idempotency-Key') !== undefined) {
    throw new ServiceError(
      'NotSupportedError',
      'Idempotency-Key is not supported, and the request was not executed. Set workflowId instead: a second start with the same id is rejected while the workflow is open',
    )
  }
  await next()
}
