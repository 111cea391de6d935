/** Steps that find out who sends a request, and reject callers that cannot do anything like it. */
import type { Context } from 'hono'
import { forbidden } from '../domain/access/decide.ts'
import { mayUse } from '../domain/access/grant.ts'
import type { Caller } from '../domain/model/caller.ts'
import type { Env, RequestCheck, RequestStep } from './context.ts'
import type { Callers } from './credentials/callers.ts'
import { unauthorized } from './credentials/rejection.ts'
import type { Access } from './endpoint.ts'

/** Sets `caller`, or rejects the request. */
export function authenticate(callers: Callers): RequestStep {
  return (c) => {
    const caller = callers.identify(c.get('urlToken') ?? c.req.header('Authorization'))
    if (caller instanceof Promise) return caller.then((found) => setCaller(c, found))
    return setCaller(c, caller)
  }
}

/** For requests that may be rejected before they reach the app. The others are left to `authenticate`. */
export function requireKnownCaller(callers: Callers): RequestCheck {
  return (c) => {
    if (!callers.knows(c.req.header('Authorization'))) throw UNKNOWN_YET
  }
}

// Never sent, so that one without a stack of its own is enough.
const UNKNOWN_YET = unauthorized('not valid')

/**
 * Rejects callers without a rule that has the right. This comes before the body is read; which runs a rule allows is
 * decided by the domain.
 */
export function authorize(access: Access): RequestStep {
  return (c) => {
    const caller = c.get('caller')
    if (caller === undefined || mayUse(caller, access)) return
    Object.assign(c.get('audit'), { action: access, rule: 'none' })
    throw forbidden(access)
  }
}

function setCaller(c: Context<Env>, caller: Caller): undefined {
  c.set('caller', caller)
}
