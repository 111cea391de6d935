/** Checks a message against what the catalog publishes about its handler: docs/decisions/022-handler-schemas.md. */
import { decideFresh } from '../../shared/lib/cache.ts'
import type { CatalogEntry } from '../../shared/wire/catalog.ts'
import { checkArgument, publishedEntry } from '../catalog/catalogs.ts'
import { atMost, type Call, withinCall } from '../model/call.ts'
import type { MessageCommand, SendCommand, StartCommand } from '../model/commands.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import { hasErrorName, type Issue, MAX_AVAILABLE, nullWhenNotFound, ServiceError } from '../model/errors.ts'
import type { ExecutionRef } from '../model/execution.ts'
import type { Ports } from '../ports.ts'
import { type KnownRun, type KnownRuns, pinnedVersionOf } from '../start/known-runs.ts'

type AdmitMessagePorts = Pick<Ports, 'catalogs' | 'knownRuns' | 'now'>

/** Where the catalog lists the handlers of each kind. */
export const HANDLERS = { signal: 'signals', query: 'queries', update: 'updates' } as const

export type MessageKind = keyof typeof HANDLERS

/**
 * Returns warnings about the message. Rejects with `ValidationError` when the first argument does not match the schema
 * of its handler, or is missing. A message whose schema cannot be read in time is admitted.
 */
export function admitMessage(
  ports: AdmitMessagePorts,
  { kind, ref, message }: SendCommand & { kind: MessageKind },
  call: Call,
): Promise<string[]> {
  return admit(ports, kind, message, call, async (freshSince, readCall) => {
    const { value: run, readAt } = await withinCall(ports.knownRuns.read(ref, freshSince), readCall)
    call.noteRun?.({ workflowId: ref.workflowId, runId: run.runId, workflowName: run.workflowName })
    return isChecked(run, kind) ? { ...run, workflowId: ref.workflowId, readAt } : null
  })
}

/** The same for a message to the open run of a workflow id, or to a new run when none is open. */
export function admitWithStart(
  ports: AdmitMessagePorts,
  { kind, start: { workflowId, workflowName, catalog, options, objectionTo }, message }: AdmitWithStart,
  call: Call,
): Promise<string[]> {
  return admit(ports, kind, message, call, async (freshSince, readCall) => {
    const newRun = { workflowName, catalog, pinnedVersion: pinnedVersionOf(options), readAt: freshSince }
    // The open run receives the message, whatever its workflow is. It is only read to confirm a rejection.
    if (workflowId === undefined || freshSince === 0) return newRun
    const run = await withinCall(readOpenRun(ports.knownRuns, { workflowId }, freshSince), readCall)
    if (run === null) return newRun
    // The caller may not learn what this run accepts. The message is not sent to it either.
    if (objectionTo !== undefined && objectionTo(run.workflowName) !== null) return null
    return isChecked(run, kind) ? { ...run, workflowId, readAt: freshSince } : null
  })
}

interface AdmitWithStart {
  kind: MessageKind
  start: Pick<StartCommand, 'catalog' | 'objectionTo' | 'options' | 'workflowId' | 'workflowName'>
  message: MessageCommand
}

/** The run whose handler receives the message. Without ids, it is yet to be started. */
interface Target extends Pick<KnownRun, 'workflowName' | 'catalog' | 'pinnedVersion'> {
  workflowId?: string
  runId?: string
  /** Epoch milliseconds. */
  readAt: number
}

/**
 * Finds the run that receives the message; null when the message is not checked. `freshSince` is that of `decideFresh`.
 */
type FindTarget = (freshSince: number, call: Call) => Promise<Target | null>

async function admit(
  ports: AdmitMessagePorts,
  kind: MessageKind,
  message: MessageCommand,
  call: Call,
  find: FindTarget,
): Promise<string[]> {
  const readCall = atMost(call, TIMEOUT_MS.handlerSchema)
  const objection = await decideFresh(
    (freshSince) => findObjection(ports, kind, message, find, freshSince, readCall),
    (found) => found?.readAt ?? null,
    ports.now,
  ).catch((error: unknown) => admitUnchecked(error, call))
  if (objection === null) return []
  if ('error' in objection) throw objection.error
  return [objection.warning]
}

type Objection = ({ error: ServiceError } | { warning: string }) & { readAt: number }

async function findObjection(
  { catalogs }: AdmitMessagePorts,
  kind: MessageKind,
  message: MessageCommand,
  find: FindTarget,
  freshSince: number,
  call: Call,
): Promise<Objection | null> {
  const target = await find(freshSince, call)
  if (target === null) return null
  const { entry, readAt } = await publishedEntry(catalogs, target, freshSince, call)
  if (entry === null) return null
  const oldest = Math.min(target.readAt, readAt)
  const handler = entry[HANDLERS[kind]].find(({ name }) => name === message.name)
  if (handler === undefined) {
    const warning = kind === 'signal' ? unlistedSignal(entry, target, message) : null
    return warning === null ? null : { warning, readAt: oldest }
  }
  const owner = `${kind} "${message.name}" of workflow "${target.workflowName}" in catalog "${target.catalog}"`
  const issues = await checkArgument(message, handler, owner, call)
  return issues.length === 0 ? null : { error: invalid(target, kind, message, issues), readAt: oldest }
}

/** A warning about a signal that the catalog does not list: the engine accepts any name, also a misspelled one. */
function unlistedSignal({ signals }: CatalogEntry, { workflowName, catalog }: Target, { name }: MessageCommand) {
  if (signals.length === 0) return null
  const names = signals.map((signal) => signal.name)
  const listed = names.slice(0, MAX_AVAILABLE).join(', ') + (names.length > MAX_AVAILABLE ? ', …' : '')
  return `Catalog "${catalog}" lists no signal "${name}" of workflow "${workflowName}". It lists: ${listed}`
}

/** The engine rejects signals and updates for a closed run itself. */
function isChecked({ open }: KnownRun, kind: MessageKind): boolean {
  return open || kind === 'query'
}

async function readOpenRun(knownRuns: KnownRuns, ref: ExecutionRef, freshSince: number): Promise<KnownRun | null> {
  try {
    const { value: run } = await knownRuns.read(ref, freshSince)
    return run.open ? run : null
  } catch (error) {
    return nullWhenNotFound(error)
  }
}

/** Sends the message unchecked: the engine reports a run that does not exist, and the worker checks the argument. */
function admitUnchecked(error: unknown, call: Call): null {
  if (!hasErrorName(error, 'WorkflowNotFoundError')) call.note({ inputUnchecked: String(error) })
  return null
}

function invalid(
  { workflowId, runId, workflowName }: Target,
  kind: MessageKind,
  { name }: MessageCommand,
  issues: Issue[],
): ServiceError {
  const [first] = issues
  const handler = `${kind} "${name}" of workflow "${workflowName}"`
  return new ServiceError('ValidationError', `Invalid argument for ${handler}: ${first?.path} ${first?.message}`, {
    details: { ...(workflowId !== undefined && { workflowId }), ...(runId !== undefined && { runId }), issues },
  })
}
