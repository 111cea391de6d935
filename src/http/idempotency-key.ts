import type { MiddlewareHandler } from 'hono'
import { ServiceError } from '../domain/errors.ts'

/** A client that sends `Idempotency-Key` relies on it: to ignore the key would do the work twice. */
export const refuseIdempotencyKey: MiddlewareHandler = async (c, next) => {
  if (c.req.method !== 'GET' && c.req.method !== 'HEAD' && c.req.header('Idempotency-Key') !== undefined) {
    throw new ServiceError(
      'NotSupportedError',
      'Idempotency-Key is not supported, and nothing was done; send a workflowId of your own: it is refused while a run has it',
    )
  }
  await next()
}
