import { ServiceError } from '../domain/model/errors.ts'
import { anyEqual, presentedTokens, toBytes } from './credentials/presented-tokens.ts'
import type { RequestCheck } from './step.ts'

/** Requires one of the tokens, as `Basic <token>`, `Bearer <token>` or `Basic base64(<any user>:<token>)`. */
export function requireToken(tokens: string[]): RequestCheck {
  const expected = tokens.map(toBytes)
  return (c) => {
    if (anyEqual(presentedTokens(c.req.header('Authorization') ?? '').map(toBytes), expected)) return
    throw new ServiceError('UnauthorizedError', 'Missing or invalid token in the Authorization header')
  }
}
