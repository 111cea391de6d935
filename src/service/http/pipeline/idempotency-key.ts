import type { Context } from 'hono'
import { ServiceError } from '../../model/errors.ts'
import type { Env, RequestCheck, RequestStep } from '../context.ts'
import { setHeader } from '../response.ts'

const HEADER = 'Idempotency-Key'

const VISIBLE_ASCII = /^[!-~]{1,255}$/

/** Rejects an `Idempotency-Key` that is not valid. */
export const checkIdempotencyKey: RequestCheck = (c) => {
  const key = c.req.header(HEADER)
  if (key !== undefined && !VISIBLE_ASCII.test(key))
    throw new ServiceError('ValidationError', 'The header Idempotency-Key must be 1 to 255 visible ASCII characters')
  return undefined
}

/** Rejects any key. A client that sends one relies on it, so ignoring it could execute a request twice. */
export const rejectIdempotencyKey: RequestCheck = (c) => {
  if (c.req.header(HEADER) !== undefined)
    throw new ServiceError(
      'NotSupportedError',
      'Idempotency-Key is not supported for this request, which was not executed. Run, start, signal, update, signal-with-start, update-with-start, and the end of an activity support it',
    )
  return undefined
}

/** The valid key of the request, to spread into a command. */
export function idempotencyKey(c: Context<Env>): { idempotencyKey?: string } {
  const key = c.req.header(HEADER)
  return key === undefined ? {} : { idempotencyKey: key }
}

const REPLAYED = 'Idempotency-Replayed'

/**
 * Every response to a start with a key has the header `Idempotency-Replayed`, unless an earlier step rejects the
 * request. It is `false` until `reportReplayed` is called.
 */
export const notReplayed: RequestStep = (c) => {
  if (c.req.header(HEADER) !== undefined) setHeader(c, REPLAYED, 'false')
  return undefined
}

/** Call this if the response describes a run that an earlier request with the same key has started. */
export function reportReplayed(c: Context<Env>): void {
  setHeader(c, REPLAYED, 'true')
}
