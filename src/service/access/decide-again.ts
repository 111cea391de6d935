/** Decisions about open requests, which are repeated when the policy changes. */

import type { Grant } from '../../shared/access/caller.ts'
import type { AccessRequest } from '../../shared/access/grant.ts'
import { createLimiter } from '../../shared/lib/limiter.ts'
import { backgroundCall, type Call, CREDENTIAL_EXPIRED, CREDENTIAL_REVOKED, withTimeout } from '../model/call.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import { hasErrorName, ServiceError } from '../model/errors.ts'
import type { ExecutionRef } from '../model/execution.ts'
import { allowingGrants, type DecidePorts, decideOnRun, denied, rightsOf } from './decide.ts'

// One policy decides again about all open requests. On workerd, where requests cannot share a limit, no policy changes.
const limitReads = createLimiter(8)

/** Repeats a decision about a run. `workflowName` is that of the run, which never changes, if it is known. */
export function decideOnRunAgain(
  ports: DecidePorts,
  request: AccessRequest,
  { ref, workflowName }: { ref: ExecutionRef; workflowName?: string },
  call: Call,
): void {
  let known = workflowName
  again(ports, [request, ref], call, async (grants, own) => {
    // What needs no read does not wait for the reads of others.
    requireAny(ports, grants, [{ ...request, workflowId: ref.workflowId, ...named(known) }], own)
    if (known !== undefined) return
    const read = () => decideOnRun(ports, grants, request, ref, withTimeout(own, TIMEOUT_MS.describe))
    known = (await limitReads(read)).workflowName
  })
}

function named(workflowName: string | undefined): Pick<AccessRequest, 'workflowName'> {
  return workflowName === undefined ? {} : { workflowName }
}

/** Repeats a decision about a standalone activity. Its type never changes, and is read once a rule depends on it. */
export function decideOnTypeAgain(
  ports: DecidePorts,
  request: AccessRequest,
  readType: (call: Call) => Promise<string>,
  call: Call,
): void {
  let known: string | undefined
  again(ports, request, call, async (grants, own) => {
    requireAny(ports, grants, [request], own)
    if (allowingGrants(ports, grants, { ...request, isWhole: true }).length > 0) return
    known ??= await limitReads(() => readType(withTimeout(own, TIMEOUT_MS.describe)))
    requireAny(ports, grants, [{ ...request, handler: known }], own)
  })
}

/** Repeats a decision that allows what one of the requests asks for. */
export function decideAgain(
  ports: DecidePorts,
  requests: readonly [AccessRequest, ...AccessRequest[]],
  call: Call,
): void {
  again(ports, requests, call, (grants, own) => requireAny(ports, grants, requests, own))
}

function requireAny(
  ports: DecidePorts,
  grants: readonly Grant[],
  requests: readonly [AccessRequest, ...AccessRequest[]],
  call: Call,
): void {
  if (requests.every((request) => allowingGrants(ports, grants, request).length === 0)) throw denied(requests[0], call)
}

/**
 * The same, but what was interrupted because the credential has lost its right is not reported as an outage of the
 * engine, unless it may have taken effect.
 */
export async function orRevoked<T>(promise: Promise<T>, action: string, { signal }: Call): Promise<T> {
  try {
    return await promise
  } catch (error) {
    const isInterrupted = hasErrorName(error, 'EngineUnavailableError') && error.details.retryAfterSeconds !== undefined
    if (!isInterrupted) throw error
    const { retryAfterSeconds: _, ...ids } = error.details
    if (signal.reason === CREDENTIAL_EXPIRED)
      throw new ServiceError('UnauthorizedError', 'The credential of the request is expired', { details: ids })
    if (signal.reason === CREDENTIAL_REVOKED)
      throw new ServiceError('ForbiddenError', `The policy no longer allows "${action}" with this credential`, {
        details: { ...ids, action },
      })
    throw error
  }
}

/** `call`: that of the decision. */
function again(
  ports: DecidePorts,
  key: unknown,
  call: Call,
  decide: (grants: readonly Grant[], call: Call) => unknown,
): void {
  if (call.caller === undefined) return
  call.decideAgain?.(
    JSON.stringify(key),
    (caller) => {
      // It belongs to no request: the audit log already has the decision with which the request began.
      const own = { ...backgroundCall('policy', TIMEOUT_MS.describe), caller }
      const rights = rightsOf(own, ports)
      return rights.kind === 'operator' ? undefined : decide(rights.grants, own)
    },
    call.caller,
  )
}
