/** Decisions of the policy about starts. */
import { decideFresh } from '../../lib/cache.ts'
import { newId } from '../../lib/new-id.ts'
import { workflowIdIssue } from '../../protocol/names.ts'
import type { Catalogs } from '../catalog/catalogs.ts'
import type { Call } from '../model/call.ts'
import type { Grant } from '../model/caller.ts'
import { hasErrorName, ServiceError } from '../model/errors.ts'
import { keyedId } from '../model/keyed-id.ts'
import { withinCall } from '../model/share-calls.ts'
import type { MessageCommand, StartCommand } from '../model/workflows.ts'
import { allowingGrants, callFor, type DecidePorts, denied } from './decide.ts'
import { type AccessRequest, denialOf, reachesAnyWorkflow } from './grant.ts'
import { matchesAll, matchesAny } from './patterns.ts'

export type DecideStartPorts = DecidePorts & { catalogs: Pick<Catalogs, 'published'>; now?: () => number }

/** What a start also does, to its own run or to an open one. */
export interface StartNeed {
  /** Any rule may allow these, for the id of the workflow. */
  also?: readonly AccessRequest[]
  /** The message that goes with the start: it may reach an open run. */
  carriesMessage?: boolean
  /** For the audit log. Default: `start`. */
  action?: 'start' | 'validate'
}

/**
 * The start to continue with: its workflow id is one that the caller may use, its workflow name is not an alias, and
 * its key belongs to the caller. Throws `ForbiddenError` if no rule allows all of it.
 */
export async function decideStart(
  ports: DecideStartPorts,
  grants: readonly Grant[],
  given: StartCommand,
  call: Call,
  { also = [], carriesMessage = false, action = 'start' }: StartNeed = {},
): Promise<{ command: StartCommand; call: Call }> {
  const { catalog } = given
  const { workflowIdConflictPolicy = 'fail' } = given.options ?? {}
  const options = Object.keys(given.options ?? {})
    .map(optionName)
    // `fail` is the default: a caller that names it needs no rule with this option.
    .filter((name) => name !== 'workflowIdConflictPolicy' || workflowIdConflictPolicy !== 'fail')
  // Whether the start can reach an open run of the id, which may be of any workflow.
  const attaches = carriesMessage || workflowIdConflictPolicy !== 'fail'
  const isAllowed = (grant: Grant, request: AccessRequest) =>
    denialOf(grant, request, ports.defaults) === null && (!attaches || reachesAnyWorkflow(grant))
  const start: AccessRequest = { verb: 'start', catalog, options, ...idOf(given) }
  const candidates = grants.filter((grant) => isAllowed(grant, start))
  if (candidates.length === 0) throw denied({ ...start, workflowName: given.workflowName }, call)

  const isNamed = grants.every(({ workflows }) => matchesAll(workflows))
  const workflowName = isNamed ? given.workflowName : await canonicalName(ports, given, call)
  const key = keyOf(given, call)
  const onRun = workflowIdConflictPolicy === 'terminate-existing' ? [...also, { verb: 'terminate' } as const] : also
  let missing: AccessRequest | undefined
  for (const grant of candidates) {
    if (!matchesAny(grant.workflows, workflowName)) continue
    const workflowId = given.workflowId ?? (await generatedId(grant, key.idempotencyKey))
    if (workflowId === null) continue
    const unmet = onRun.find(
      (request) => !grants.some((other) => isAllowed(other, { ...request, workflowId, workflowName })),
    )
    if (unmet === undefined) {
      call.audit({ action, rule: grant.rule, workflowId, workflowName })
      return { command: { ...given, ...key, workflowName, workflowId }, call: callFor(grant, call) }
    }
    missing ??= { ...unmet, ...idOf(given) }
  }
  throw denied({ ...(missing ?? start), workflowName: given.workflowName }, call)
}

/** The access that a message needs; its run is not part of it. */
export function requestOf(verb: 'signal' | 'query' | 'update', { name, headers }: MessageCommand): AccessRequest {
  return { verb, handler: name, ...(headers && { options: ['headers'] }) }
}

/** The key, made unique for the caller: callers do not share keys, and a caller keeps its keys with a new token. */
export function keyOf({ idempotencyKey }: { idempotencyKey?: string }, { caller }: Call): { idempotencyKey?: string } {
  return idempotencyKey === undefined ? {} : { idempotencyKey: `${caller?.id}\n${idempotencyKey}` }
}

function idOf({ workflowId }: StartCommand): Pick<AccessRequest, 'workflowId'> {
  return workflowId === undefined ? {} : { workflowId }
}

/** An id that matches the first granted pattern that ends in `*`; null without such a pattern, or if it is too long. */
async function generatedId({ ids = ['*'] }: Grant, idempotencyKey: string | undefined): Promise<string | null> {
  const pattern = ids.find((id) => id.endsWith('*'))
  if (pattern === undefined) return null
  const id = pattern.slice(0, -1) + (idempotencyKey === undefined ? newId() : await keyedId(idempotencyKey))
  // A claim in the pattern can make the id too long.
  return workflowIdIssue(id) === null ? id : null
}

/** The name behind an alias. The catalog is read again before a name counts as missing from it. */
async function canonicalName(
  { catalogs, now }: Pick<DecideStartPorts, 'catalogs' | 'now'>,
  { catalog, workflowName }: StartCommand,
  call: Call,
): Promise<string> {
  const { name } = await decideFresh(
    async (freshSince) => {
      const { value, readAt } = await withinCall(catalogs.published(catalog, freshSince), call)
      return { name: value?.workflowNames.get(workflowName), readAt }
    },
    ({ name, readAt }) => (name === undefined ? readAt : null),
    now,
  )
  return name ?? workflowName
}

/** The option as the API names it: durations have a unit here. */
function optionName(name: string): string {
  return name.endsWith('Ms') ? name.slice(0, -2) : name
}

/** An error of a start, without names and ids that its caller may not know. */
export function withoutForeign(
  error: unknown,
  ports: Pick<DecidePorts, 'defaults'>,
  grants: readonly Grant[],
  { catalog }: StartCommand,
): unknown {
  if (hasErrorName(error, 'UnsupportedWorkflowError') && error.details.available !== undefined) {
    const starting = allowingGrants(ports, grants, { verb: 'start', catalog })
    const available = error.details.available.filter((name) =>
      starting.some(({ workflows }) => matchesAny(workflows, name)),
    )
    return new ServiceError(error.error, error.message, {
      cause: error.cause,
      details: { ...error.details, available },
    })
  }
  if (hasErrorName(error, 'WorkflowAlreadyStartedError')) {
    const { runId, ...details } = error.details
    const { workflowId = '' } = details
    const readers = allowingGrants(ports, grants, { verb: 'read', workflowId })
    if (runId === undefined || readers.some(({ workflows }) => matchesAll(workflows))) return error
    return new ServiceError(error.error, error.message, { cause: error.cause, details })
  }
  return error
}
