/** Decisions of the policy about one request. Each is recorded for the audit log, and a denial is an error. */

import type { Grant, Rights } from '../../shared/access/caller.ts'
import { type AccessRequest, actionOf, callerIn, type Defaults, denialOf } from '../../shared/access/grant.ts'
import { matchesAll, matchesAny } from '../../shared/access/patterns.ts'
import type { TypedActivity } from '../model/activity.ts'
import { type Call, withinCall } from '../model/call.ts'
import type { MessageCommand } from '../model/commands.ts'
import type { Engine } from '../model/engine.ts'
import { ServiceError, workflowNotFound } from '../model/errors.ts'
import type { ExecutionRef } from '../model/execution.ts'
import type { Link } from '../model/link.ts'
import type { AdmitSignal } from '../model/question.ts'
import type { KnownRuns } from '../start/known-runs.ts'

export interface DecidePorts {
  /** The namespace of the runs. */
  namespace: string
  defaults: Defaults
  engine: Pick<Engine, 'describe'>
  knownRuns: Pick<KnownRuns, 'read'>
}

const EVERYTHING: Rights = { kind: 'operator' }

/** What the caller may do in the namespace. Where no credential is required, that is everything. */
export function rightsOf({ caller }: Call, { namespace, defaults }: DecidePorts): Rights {
  return caller === undefined ? EVERYTHING : callerIn(caller, namespace, defaults.namespace)
}

/** The same call for another decision: by the policy that is now in force, with a line of its own in the audit log. */
export function withDecision(call: Call): Call {
  return { ...callNow(call), audit: call.addDecision?.() ?? call.audit }
}

function callNow(call: Call): Call {
  const caller = call.callerNow?.()
  return caller === undefined ? call : { ...call, caller }
}

/** The workflows for which the policy allows the request at the time of the call: `admits` of a `Call`. */
export function admitting(ports: DecidePorts, request: AccessRequest, call: Call): NonNullable<Call['admits']> {
  return () => {
    const rights = rightsOf(callNow(call), ports)
    if (rights.kind === 'operator') return null
    const allowing = allowingGrants(ports, rights.grants, request)
    const ofAll = allowing.some(({ workflows }) => matchesAll(workflows))
    return ofAll ? null : (name) => allowing.some(({ workflows }) => matchesAny(workflows, name))
  }
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
  /** Of the run, if it was read. */
  workflowName?: string
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
  const following = { ...call, admits: admitting(ports, { ...request, workflowId }, call) }
  const ofAll = allowing.find(({ workflows }) => matchesAll(workflows))
  if (ofAll !== undefined) return allow(ofAll, ref, following)
  const { runId, workflowName } = await readRun(ports, ref, call)
  call.audit({ runId, workflowName })
  const ofThis = allowing.find(({ workflows }) => matchesAny(workflows, workflowName))
  if (ofThis !== undefined) return { ...allow(ofThis, { workflowId, runId }, following), workflowName }
  call.audit({ rule: 'none' })
  throw workflowNotFound(ref)
}

/**
 * Whether one rule allows the caller a request about activities of a type in a run of a workflow. A verb that gets
 * false responds as if the activity did not exist.
 */
export function admitsActivity(
  ports: DecidePorts,
  request: AccessRequest,
  ref: ExecutionRef,
  call: Call,
): (activity: TypedActivity) => boolean {
  const rights = rightsOf(call, ports)
  const ruleFor = rights.kind === 'operator' ? null : handlerRule(ports, rights.grants, request, ref, call)
  return ({ activityType: handler, workflowName }) => {
    call.audit({ action: actionOf({ ...request, handler }) })
    return ruleFor === null || ruleFor(handler, workflowName) !== undefined
  }
}

/** Decides about a signal of a run that the caller may read, and returns the call to send it with. */
export function admitSignal(ports: DecidePorts, call: Call): AdmitSignal {
  const rights = rightsOf(call, ports)
  return (handler, { workflowId, workflowName }) => {
    const request = { verb: 'signal', handler, workflowId, workflowName } as const
    call.audit({ action: actionOf(request) })
    if (rights.kind === 'operator') return call
    const [first] = allowingGrants(ports, rights.grants, request)
    if (first === undefined) throw denied(request, call)
    call.audit({ rule: first.rule })
    return callFor(first, call)
  }
}

/**
 * Finds the rule for a signal, or for an activity of a type; undefined without one. Which one it is, is
 * known once the run is read.
 */
export function handlerRule(
  ports: Pick<DecidePorts, 'defaults'>,
  grants: readonly Grant[],
  request: AccessRequest,
  { workflowId }: ExecutionRef,
  call: Call,
): (handler: string, workflowName: string) => Grant | undefined {
  return (handler, workflowName) => {
    const [first] = allowingGrants(ports, grants, { ...request, handler, workflowId, workflowName })
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

export function isRestricted({ caller }: Call): boolean {
  return caller?.kind === 'granted'
}

/** The access that a message needs; its run is not part of it. */
export function requestOf(verb: 'signal' | 'query' | 'update', { name, headers }: MessageCommand): AccessRequest {
  return { verb, handler: name, ...(headers && { options: ['headers'] }) }
}

/** The key, made unique for the caller: callers do not share keys, and a caller keeps its keys with a new token. */
export function keyOf({ idempotencyKey }: { idempotencyKey?: string }, { caller }: Call): { idempotencyKey?: string } {
  return idempotencyKey === undefined ? {} : { idempotencyKey: `${caller?.id}\n${idempotencyKey}` }
}
