/** Whether a message may be sent, as its workflow's catalog says: docs/decisions/022-handler-schemas.md. */
import type { JsonSchema } from '../../protocol/catalog.ts'
import { isSameVersion } from '../../protocol/worker-version.ts'
import { atMost, type Call } from '../call.ts'
import type { Catalogs } from '../catalog/catalogs.ts'
import { TIMEOUT_MS } from '../deadlines.ts'
import { type Issue, ServiceError } from '../errors.ts'
import type { ExecutionRef } from '../execution.ts'
import { inTime } from '../with-deadline.ts'
import type { MessageCommand } from '../workflows.ts'
import { checkArgument } from './check-argument.ts'
import type { KnownRun, KnownRuns } from './known-runs.ts'

export interface AdmissionPorts {
  catalogs: Catalogs
  knownRuns: KnownRuns
  now?: () => number
}

const HANDLERS = { signal: 'signals', query: 'queries', update: 'updates' } as const

export type MessageKind = keyof typeof HANDLERS

/**
 * Rejects with `ValidationError` when the first argument does not fit the schema that the run's catalog publishes for the handler.
 *
 * A refusal is based on what was read after the request came. What cannot be read within half a second refuses nothing.
 */
export function admitMessage(
  ports: AdmissionPorts,
  ref: ExecutionRef,
  kind: MessageKind,
  message: MessageCommand,
  call: Call,
) {
  return admit(ports, kind, message, call, async (freshSince, call) => {
    const { value: run, readAt } = await inTime(ports.knownRuns.read(ref, freshSince), call)
    return isChecked(run, kind) ? { ...run, workflowId: ref.workflowId, readAt } : null
  })
}

/** The same for an update of the open run of `workflowId`, or of a new run where none is open. */
export function admitUpdateWithStart(
  ports: AdmissionPorts,
  { workflowId, workflowName, catalog }: { workflowId?: string; workflowName: string; catalog: string },
  message: MessageCommand,
  call: Call,
) {
  return admit(ports, 'update', message, call, async (freshSince, call) => {
    const started = { workflowName, catalog, pinnedVersion: null, readAt: freshSince }
    // Only a refusal needs to know the open run, which is updated whatever its workflow is.
    if (workflowId === undefined || freshSince === 0) return started
    const run = await inTime(openRun(ports.knownRuns, workflowId, freshSince), call)
    if (run === null) return started
    return isChecked(run, 'update') ? { ...run, workflowId, readAt: freshSince } : null
  })
}

/** Whose handler gets the message. */
interface Target extends Pick<KnownRun, 'workflowName' | 'catalog' | 'pinnedVersion'> {
  workflowId?: string
  runId?: string
  /** Epoch milliseconds. */
  readAt: number
}

/** Null where nothing is to be checked. */
type FindTarget = (freshSince: number, call: Call) => Promise<Target | null>

async function admit(
  ports: AdmissionPorts,
  kind: MessageKind,
  message: MessageCommand,
  call: Call,
  find: FindTarget,
): Promise<void> {
  if (message.args.length === 0) return
  const { now = Date.now } = ports
  const arrivedAt = now()
  const limited = atMost(call, TIMEOUT_MS.handlerSchema)
  const judged = (freshSince: number) => judge(ports, kind, message, find, freshSince, limited)
  const refusal = await judged(0)
    .then((first) => (first !== null && first.readAt < arrivedAt ? judged(arrivedAt) : first))
    .catch((error: unknown) => unchecked(error, call))
  if (refusal !== null) throw refusal.error
}

async function judge(
  { catalogs }: AdmissionPorts,
  kind: MessageKind,
  message: MessageCommand,
  find: FindTarget,
  freshSince: number,
  call: Call,
): Promise<{ error: ServiceError; readAt: number } | null> {
  const target = await find(freshSince, call)
  if (target === null) return null
  const { schema, readAt } = await handlerSchema(catalogs, target, kind, message.name, freshSince, call)
  const issues = schema === null ? [] : await checkArgument(message, schema, ownerOf(target, kind, message), call)
  return issues.length === 0
    ? null
    : { error: invalid(target, kind, message, issues), readAt: Math.min(target.readAt, readAt) }
}

function ownerOf({ workflowName, catalog }: Target, kind: MessageKind, { name }: MessageCommand): string {
  return `${kind} "${name}" of workflow "${workflowName}" in catalog "${catalog}"`
}

/** Null where the catalog publishes none, is of the older form, whose schemas are only shown, or of another version than the run. */
async function handlerSchema(
  catalogs: Catalogs,
  { workflowName, catalog, pinnedVersion }: Target,
  kind: MessageKind,
  handlerName: string,
  freshSince: number,
  call: Call,
): Promise<{ schema: JsonSchema | null; readAt: number }> {
  const { value: published, readAt } = await inTime(catalogs.published(catalog, freshSince), call)
  const isOther = pinnedVersion !== null && !isSameVersion(pinnedVersion, published?.version ?? null)
  if (published === null || isOther || catalogs.isOlderForm(published.run.workflowId)) return { schema: null, readAt }
  const workflows = await inTime(catalogs.workflows(published), call)
  const workflow = workflows?.find(({ name }) => name === workflowName)
  return { schema: workflow?.[HANDLERS[kind]].find(({ name }) => name === handlerName)?.inputSchema ?? null, readAt }
}

/** A closed run takes no signals and updates, which the engine says. */
function isChecked({ open }: KnownRun, kind: MessageKind): boolean {
  return open || kind === 'query'
}

async function openRun(knownRuns: KnownRuns, workflowId: string, freshSince: number): Promise<KnownRun | null> {
  try {
    const { value: run } = await knownRuns.read({ workflowId }, freshSince)
    return run.open ? run : null
  } catch (error) {
    if (isNotFound(error)) return null
    throw error
  }
}

/** The message is sent: whether there is such a run is the engine's to say, and the worker checks for itself. */
function unchecked(error: unknown, call: Call): null {
  if (!isNotFound(error)) call.note({ inputUnchecked: String(error) })
  return null
}

function isNotFound(error: unknown): boolean {
  return error instanceof ServiceError && error.error === 'WorkflowNotFoundError'
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
