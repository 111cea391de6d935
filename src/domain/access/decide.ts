/** Decisions of the policy about one request. Each is recorded for the audit log, and a denial is an error. */

import type { KnownRuns } from '../admission/known-runs.ts'
import type { TypedActivity } from '../model/activity.ts'
import type { Call } from '../model/call.ts'
import type { Grant } from '../model/caller.ts'
import type { Engine } from '../model/engine.ts'
import { ServiceError, workflowNotFound } from '../model/errors.ts'
import type { ExecutionRef } from '../model/execution.ts'
import type { Link } from '../model/link.ts'
import { withinCall } from '../model/share-calls.ts'
import { type AccessRequest, actionOf, type Defaults, denialOf, grantsIn } from './grant.ts'
import { matchesAll, matchesAny } from './patterns.ts'

export interface DecidePorts {
  /** The namespace of the runs. */
  namespace: string
  defaults: Defaults
  engine: Pick<Engine, 'describe'>
  knownRuns: Pick<KnownRuns, 'read'>
}

/** The rules that apply to the caller; null if it may do everything. */
export function grantsOf({ caller }: Call, { namespace, defaults }: DecidePorts): readonly Grant[] | null {
  return caller === undefined ? null : grantsIn(caller, namespace, defaults.namespace)
}

/** Records that a caller without rules of its own is allowed what it asks. */
export function allowOperator(request: AccessRequest, ids: Partial<ExecutionRef>, call: Call): void {
  call.audit({ action: actionOf(request), rule: null, ...ids })
}

/** Records the request of the holder of a link, which needs no decision: a valid link is the right to use it. */
export function allowHolder(
  request: AccessRequest,
  { namespace, workflowId, runId, workflowName, rule }: Link,
  call: Call,
): void {
  call.audit({ action: actionOf(request), rule, namespace, workflowId, runId, workflowName })
}

interface Allowed {
  ref: ExecutionRef
  call: Call
  /** The rule that allows it; null for an access token of an operator. */
  rule: string | null
}

/**
 * The reference and the call to continue with. If only rules that name workflows allow the request, the run is read
 * first, and an unpinned request then acts on this run.
 *
 * Throws `ForbiddenError` if no rule allows the verb and the workflow id, whether the run exists or not. A run of
 * another workflow gets the same error as a run that does not exist.
 */
export async function decideOnRun(
  ports: DecidePorts,
  grants: readonly Grant[],
  request: AccessRequest,
  ref: ExecutionRef,
  call: Call,
): Promise<Allowed> {
  const { workflowId } = ref
  const allowing = allowingGrants(ports, grants, { ...request, workflowId })
  const [first] = allowing
  if (first === undefined) throw denied({ ...request, workflowId }, call)
  call.audit({ action: actionOf(request), rule: first.rule, ...ref })
  const ofAll = allowing.find(({ workflows }) => matchesAll(workflows))
  if (ofAll !== undefined) return allow(ofAll, ref, call)
  const { runId, workflowName } = await readRun(ports, ref, call)
  call.audit({ runId, workflowName })
  const ofThis = allowing.find(({ workflows }) => matchesAny(workflows, workflowName))
  if (ofThis !== undefined) return allow(ofThis, { workflowId, runId }, call)
  call.audit({ rule: 'none' })
  throw workflowNotFound(ref)
}

/**
 * Whether one rule allows the caller to complete activities of a type in a run of a workflow. A verb that gets false
 * responds as if the activity did not exist.
 */
export function admitsActivity(
  ports: DecidePorts,
  ref: ExecutionRef,
  call: Call,
): (activity: TypedActivity) => boolean {
  const grants = grantsOf(call, ports)
  const ruleFor = grants && activityRule(ports, grants, ref, call)
  return (activity) => {
    call.audit({ action: actionOf({ verb: 'complete', handler: activity.activityType }) })
    return ruleFor === null || ruleFor(activity) !== undefined
  }
}

/** Finds the rule for completing an activity; undefined without one. The type is known once the run is read. */
export function activityRule(
  ports: Pick<DecidePorts, 'defaults'>,
  grants: readonly Grant[],
  { workflowId }: ExecutionRef,
  call: Call,
): (activity: TypedActivity) => Grant | undefined {
  return ({ activityType: handler, workflowName }) => {
    const [first] = allowingGrants(ports, grants, { verb: 'complete', handler, workflowId, workflowName })
    call.audit({ rule: first === undefined ? 'none' : first.rule })
    return first
  }
}

function allow(grant: Grant, ref: ExecutionRef, call: Call): Allowed {
  call.audit({ rule: grant.rule })
  return { ref, call: callFor(grant, call), rule: grant.rule }
}

/** Without a run id the run is always read, because the latest run may have changed; else a cached one will do. */
async function readRun(
  { engine, knownRuns }: Pick<DecidePorts, 'engine' | 'knownRuns'>,
  ref: ExecutionRef,
  call: Call,
): Promise<{ runId: string; workflowName: string }> {
  return ref.runId === undefined ? engine.describe(ref, call) : (await withinCall(knownRuns.read(ref), call)).value
}

/** The rules that allow the request. */
export function allowingGrants(
  { defaults }: Pick<DecidePorts, 'defaults'>,
  grants: readonly Grant[],
  request: AccessRequest,
): Grant[] {
  return grants.filter((grant) => denialOf(grant, request, defaults) === null)
}

/** Workers trust headers, so only rules with the option `headers` forward those of the request. */
export function callFor({ options }: Grant, call: Call): Call {
  if (call.forwardedHeaders === undefined || matchesAny(options, 'headers')) return call
  const { forwardedHeaders: _, ...others } = call
  return others
}

/** The error for what no rule allows. It names what was requested, and does not depend on what exists. */
export function denied(request: AccessRequest, call: Call): ServiceError {
  const { workflowId, workflowName, catalog, options = [] } = request
  const action = actionOf(request)
  call.audit({
    action,
    rule: 'none',
    ...(workflowId !== undefined && { workflowId }),
    ...(workflowName !== undefined && { workflowName }),
  })
  const facts = [
    ...(workflowName === undefined ? [] : [`workflow "${workflowName}"`]),
    ...(catalog === undefined ? [] : [`catalog "${catalog}"`]),
    ...(workflowId === undefined ? [] : [`workflow id "${workflowId}"`]),
    ...(options.length === 0 ? [] : [`options ${options.join(', ')}`]),
  ]
  return forbidden(action, facts)
}

/** `facts` name what else was requested. */
export function forbidden(action: string, facts: readonly string[] = []): ServiceError {
  const about = facts.length === 0 ? '' : ` for ${facts.join(', ')}`
  const message = `The policy does not allow "${action}"${about} with this credential`
  return new ServiceError('ForbiddenError', message, { details: { action } })
}
