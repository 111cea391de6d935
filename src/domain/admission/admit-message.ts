/**
 * Whether a message fits the schema that the catalog publishes for its handler: docs/decisions/022-handler-schemas.md.
 */
import { atMost, type Call } from '../call.ts'
import { publishedEntry } from '../catalog/published-entry.ts'
import { TIMEOUT_MS } from '../deadlines.ts'
import { hasErrorName, type Issue, nullWhenNotFound, ServiceError } from '../errors.ts'
import type { ExecutionRef } from '../execution.ts'
import type { Ports } from '../ports.ts'
import { withinCall } from '../within-call.ts'
import type { MessageCommand, SendCommand, StartCommand } from '../workflows.ts'
import { checkArgument } from './check-argument.ts'
import type { KnownRun, KnownRuns } from './known-runs.ts'

type AdmitMessagePorts = Pick<Ports, 'catalogs' | 'knownRuns' | 'now'>

/** Where the catalog lists the handlers of each kind. */
export const HANDLERS = { signal: 'signals', query: 'queries', update: 'updates' } as const

export type MessageKind = keyof typeof HANDLERS

/**
 * Rejects with `ValidationError` when the first argument does not match the schema of its handler.
 *
 * A rejection is never based on cached data. A message whose schema cannot be read in time is admitted.
 */
export function admitMessage(
  ports: AdmitMessagePorts,
  { kind, ref, message }: SendCommand & { kind: MessageKind },
  call: Call,
): Promise<void> {
  return admit(ports, kind, message, call, async (freshSince, call) => {
    const { value: run, readAt } = await withinCall(ports.knownRuns.read(ref, freshSince), call)
    return isChecked(run, kind) ? { ...run, workflowId: ref.workflowId, readAt } : null
  })
}

/** The same for a message to the open run of a workflow id, or to a new run when none is open. */
export function admitWithStart(
  ports: AdmitMessagePorts,
  { kind, start: { workflowId, workflowName, catalog }, message }: AdmitWithStart,
  call: Call,
): Promise<void> {
  return admit(ports, kind, message, call, async (freshSince, call) => {
    const newRun = { workflowName, catalog, pinnedVersion: null, readAt: freshSince }
    // The open run is only read to confirm a rejection. It gets the message, whatever its workflow is.
    if (workflowId === undefined || freshSince === 0) return newRun
    const run = await withinCall(readOpenRun(ports.knownRuns, { workflowId }, freshSince), call)
    if (run === null) return newRun
    return isChecked(run, kind) ? { ...run, workflowId, readAt: freshSince } : null
  })
}

interface AdmitWithStart {
  kind: MessageKind
  start: Pick<StartCommand, 'catalog' | 'workflowId' | 'workflowName'>
  message: MessageCommand
}

/** The run whose handler receives the message. Without ids, it is yet to be started. */
interface Target extends Pick<KnownRun, 'workflowName' | 'catalog' | 'pinnedVersion'> {
  workflowId?: string
  runId?: string
  /** Epoch milliseconds. */
  readAt: number
}

/** Null when the message is not checked. */
type FindTarget = (freshSince: number, call: Call) => Promise<Target | null>

async function admit(
  ports: AdmitMessagePorts,
  kind: MessageKind,
  message: MessageCommand,
  call: Call,
  find: FindTarget,
): Promise<void> {
  if (message.args.length === 0) return
  const { now = Date.now } = ports
  const arrivedAt = now()
  const readCall = atMost(call, TIMEOUT_MS.handlerSchema)
  const check = (freshSince: number) => findRejection(ports, kind, message, find, freshSince, readCall)
  const rejection = await check(0)
    .then((cached) => (cached !== null && cached.readAt < arrivedAt ? check(arrivedAt) : cached))
    .catch((error: unknown) => admitUnchecked(error, call))
  if (rejection !== null) throw rejection.error
}

async function findRejection(
  { catalogs }: AdmitMessagePorts,
  kind: MessageKind,
  message: MessageCommand,
  find: FindTarget,
  freshSince: number,
  call: Call,
): Promise<{ error: ServiceError; readAt: number } | null> {
  const target = await find(freshSince, call)
  if (target === null) return null
  const { entry, readAt } = await publishedEntry(catalogs, target, freshSince, call)
  const schema = entry?.[HANDLERS[kind]].find(({ name }) => name === message.name)?.inputSchema ?? null
  const owner = `${kind} "${message.name}" of workflow "${target.workflowName}" in catalog "${target.catalog}"`
  const issues = schema === null ? [] : await checkArgument(message, schema, owner, call)
  if (issues.length === 0) return null
  return { error: invalid(target, kind, message, issues), readAt: Math.min(target.readAt, readAt) }
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

/** The engine reports a run that does not exist, and the worker checks the argument again. */
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
