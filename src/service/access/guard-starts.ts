/** The rows of starts, and what they decide. */

import type { Grant } from '../../shared/access/caller.ts'
import { type AccessRequest, actionOf, denialOf } from '../../shared/access/grant.ts'
import { matchesAll, matchesAny } from '../../shared/access/patterns.ts'
import { decideFresh } from '../../shared/lib/cache.ts'
import { newId } from '../../shared/lib/new-id.ts'
import { workflowIdIssue } from '../../shared/wire/names.ts'
import type { RunRef } from '../../shared/wire/run-ref.ts'
import type { Catalogs } from '../catalog/catalogs.ts'
import { attemptsOf, type Call, withinCall } from '../model/call.ts'
import type { Act, MessageCommand, StartCommand } from '../model/commands.ts'
import { hasErrorName, ServiceError } from '../model/errors.ts'
import { keyedId } from '../model/keyed-id.ts'
import {
  admitting,
  allowingGrants,
  callFor,
  type DecidePorts,
  denied,
  keyOf,
  requestOf,
  rightsOf,
  withDecision,
} from './decide.ts'
import { decideAgain } from './decide-again.ts'
import type { Bound, Keyed, Verb, VerbPorts } from './guard.ts'

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

/** Starts a workflow; `needOf`: what the request needs besides. */
export function onStart<Input extends StartCommand, Output>(
  act: Act<VerbPorts, Input, Output>,
  needOf: (input: Input) => StartNeed,
): Verb<Input, Output> {
  return {
    access: 'start',
    act,
    decide: (ports, input, call, act) => starting(ports, input, call, needOf(input), act),
  }
}

/** Starts a workflow and sends it a message, or sends the message to the open run. */
export function onStartWith<
  Kind extends 'signal' | 'update',
  Input extends { start: StartCommand } & Record<Kind, MessageCommand>,
  Output extends RunRef & { started: boolean },
>(kind: Kind, act: Act<VerbPorts, Input, Output>): Verb<Input, Output> {
  return {
    access: 'start',
    act,
    decide(ports, input, given, act) {
      const message = requestOf(kind, input[kind])
      return starting(ports, input.start, given, { also: [message], carriesMessage: true }, (start, call) =>
        recordMessage(ports, message, start, call, () => act({ ...input, start }, call)),
      )
    },
  }
}

/** A start whose result is returned also reads. */
export const READS: StartNeed = { also: [{ verb: 'read' }] }

function starting<Command extends StartCommand, Output>(
  ports: VerbPorts,
  command: Command,
  given: Call,
  need: StartNeed,
  act: Bound<Command, Output>,
): Promise<Output> {
  const call = withDecision(given)
  const rights = rightsOf(call, ports)
  if (rights.kind === 'granted') return startingByRules(ports, rights.grants, command, call, need, act)
  allowOperatorStart(command, need, call)
  return act(command, call)
}

async function startingByRules<Command extends StartCommand, Output>(
  ports: VerbPorts,
  grants: readonly Grant[],
  command: Command,
  call: Call,
  need: StartNeed,
  act: Bound<Command, Output>,
): Promise<Output> {
  const allowed = await decideStart(ports, grants, command, call, need)
  const { workflowId, workflowName } = allowed.command
  // After the start, a new policy can only deny what follows.
  for (const request of need.also ?? [])
    decideAgain(ports, [{ ...request, workflowName, ...(workflowId !== undefined && { workflowId }) }], call)
  try {
    return await act({ ...command, ...allowed.command }, allowed.call)
  } catch (error) {
    throw withoutForeign(error, ports, grants, command)
  }
}

/** The row of a start that carries a message, which has an effect: the key is that of the start. */
export function effectOfStart<Input extends { start: Keyed }, Output>(verb: Verb<Input, Output>): Verb<Input, Output> {
  return { ...verb, keyed: ({ start }) => start }
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
  const start: AccessRequest = { verb: 'start', catalog, options: optionsOf(given), ...idOf(given) }
  const candidates = allowingGrants(ports, grants, start)
  if (candidates.length === 0) throw denied({ ...start, workflowName: given.workflowName }, call)

  const workflowName = await canonicalName(ports, grants, given, call)
  const key = keyOf(given, call)
  const onRun = workflowIdConflictPolicy === 'terminate-existing' ? [...also, { verb: 'terminate' } as const] : also
  const unmetBy = (workflowId: string) => unmetOn(ports, grants, workflowId)
  const named = candidates.filter(({ workflows }) => matchesAny(workflows, workflowName))
  const choices = await withIds(named, given.workflowId, key.idempotencyKey)
  const chosen = choices.find(({ workflowId }) => unmetBy(workflowId)(onRun, workflowName) === undefined)
  if (chosen === undefined) {
    const [first] = choices
    const unmet = first && unmetBy(first.workflowId)(onRun, workflowName)
    throw denied({ ...(unmet ? { ...unmet, ...idOf(given) } : start), workflowName: given.workflowName }, call)
  }
  const { grant, workflowId } = chosen
  call.audit({ action, rule: grant.rule, workflowId, workflowName })
  const meets = carriesMessage || workflowIdConflictPolicy !== 'fail'
  const attempt = attemptsOf(call)
  const whenMet = (ofRun: { workflowName?: string }) => {
    const [first] = allowingGrants(ports, grants, { verb: 'terminate', workflowId, ...ofRun })
    recordTermination(given, action, attempt(), { rule: first?.rule ?? null, ...ofRun })
  }
  const objectionTo = meets ? objectionOn(given, unmetBy(workflowId), [start, ...onRun], call, whenMet) : {}
  const command = { ...given, ...key, workflowName, workflowId, ...objectionTo }
  const admits = admitting(ports, { verb: 'read', workflowId }, call)
  return { command, call: callFor(grant, { ...call, admits }) }
}

/** The rules with the id that the workflow gets under each of them. Those without room for an id are left out. */
export async function withIds(
  grants: readonly Grant[],
  given: string | undefined,
  idempotencyKey: string | undefined,
): Promise<{ grant: Grant; workflowId: string }[]> {
  const ids = await Promise.all(grants.map((grant) => given ?? generatedId(grant, idempotencyKey)))
  return grants.flatMap((grant, at) => {
    const workflowId = ids[at] ?? null
    return workflowId === null ? [] : [{ grant, workflowId }]
  })
}

/** Finds the first request that no rule allows for a run of the workflow, or without a name, of any workflow. */
type FindUnmet = (requests: readonly AccessRequest[], workflowName: string | null) => AccessRequest | undefined

function unmetOn(ports: DecideStartPorts, grants: readonly Grant[], workflowId: string): FindUnmet {
  const isMet = (request: AccessRequest, workflowName: string | null) =>
    grants.some(
      (grant) =>
        denialOf(grant, { ...request, workflowId }, ports.defaults) === null &&
        (workflowName === null ? matchesAll(grant.workflows) : matchesAny(grant.workflows, workflowName)),
    )
  return (requests, workflowName) => requests.find((request) => !isMet(request, workflowName))
}

/**
 * The open run of the id may be of a workflow for which the caller may not do the same. The error names only what was
 * requested.
 */
function objectionOn(
  given: StartCommand,
  findUnmet: FindUnmet,
  requests: readonly AccessRequest[],
  call: Call,
  whenMet: (ofRun: { workflowName?: string }) => void,
): Pick<StartCommand, 'objectionTo'> {
  if (findUnmet(requests, null) === undefined) {
    whenMet({})
    return {}
  }
  return {
    objectionTo(ofRun) {
      const unmet = findUnmet(requests, ofRun)
      if (unmet !== undefined) return denied({ ...unmet, ...idOf(given), workflowName: given.workflowName }, call)
      whenMet({ workflowName: ofRun })
      return null
    },
  }
}

/**
 * Records that a start with `terminate-existing` terminates the open run of its id. Without the workflow of this run,
 * that there may be one: only the engine finds it, and does not say so.
 */
function recordTermination(
  { workflowId, options }: StartCommand,
  action: StartNeed['action'],
  call: Call,
  facts: { rule: string | null; workflowName?: string },
): void {
  if (action === 'validate' || workflowId === undefined) return
  if (options?.workflowIdConflictPolicy !== 'terminate-existing') return
  withDecision(call).audit({ action: 'terminate', workflowId, ...facts })
}

/** Records what was done: a message to an open run is no start. */
export async function recordMessage<Run extends RunRef & { started: boolean }>(
  ports: DecideStartPorts,
  message: AccessRequest,
  { workflowId, workflowName }: StartCommand,
  call: Call,
  send: () => Promise<Run>,
): Promise<Run> {
  const ofRun = workflowId === undefined ? {} : { workflowId }
  const rights = rightsOf(call, ports)
  const grants = rights.kind === 'operator' ? [] : rights.grants
  const [first] = allowingGrants(ports, grants, { ...message, ...ofRun, workflowName })
  const facts = { action: actionOf(message), rule: first?.rule ?? null, ...ofRun }
  try {
    const run = await send()
    const ids = { workflowId: run.workflowId, runId: run.runId }
    call.audit(run.started ? ids : { action: '' })
    withDecision(call).audit({ ...facts, ...ids })
    return run
  } catch (error) {
    if (!hasErrorName(error, 'ForbiddenError')) withDecision(call).audit(facts)
    throw error
  }
}

/** Records the start of a caller without rules of its own. */
export function allowOperatorStart(command: StartCommand, { action = 'start' }: StartNeed, call: Call): void {
  const { workflowId, workflowName } = command
  recordTermination(command, action, call, { rule: null })
  call.audit({ action, rule: null, workflowName, ...(workflowId !== undefined && { workflowId }) })
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

/** The name behind an alias, if rules name workflows. The catalog is read again before a name is missing from it. */
async function canonicalName(
  { catalogs, now }: Pick<DecideStartPorts, 'catalogs' | 'now'>,
  grants: readonly Grant[],
  { catalog, workflowName }: StartCommand,
  call: Call,
): Promise<string> {
  if (grants.every(({ workflows }) => matchesAll(workflows))) return workflowName
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

export function optionsOf({ options = {} }: Pick<StartCommand, 'options'>): string[] {
  const { workflowIdConflictPolicy, ...others } = options
  // `fail` is the default: a caller that names it needs no rule with this option.
  const isDefault = workflowIdConflictPolicy === undefined || workflowIdConflictPolicy === 'fail'
  return Object.keys(isDefault ? others : options).map(optionName)
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
