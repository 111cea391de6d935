/** Whether a start may be sent: the catalog decides about its workflow name, its input, and its message. */
import { decideFresh } from '../../shared/lib/cache.ts'
import { newId } from '../../shared/lib/new-id.ts'
import type { TraceTemplates } from '../../shared/wire/catalog.ts'
import { checkArgument, isEnforced, isPolling, type Published } from '../catalog/catalogs.ts'
import { rejectOlderCatalog } from '../control/catalog-guard.ts'
import { admitWithStart } from '../messages/admit-message.ts'
import { type Call, withinCall } from '../model/call.ts'
import type { MessageCommand, StartCommand } from '../model/commands.ts'
import type { EngineFeatures, EngineStart } from '../model/engine.ts'
import { type Issue, MAX_AVAILABLE, ServiceError } from '../model/errors.ts'
import type { WorkflowOptions } from '../model/workflow-options.ts'
import type { Ports } from '../ports.ts'
import { pinnedVersionOf } from './known-runs.ts'

export type AdmitStartPorts = Pick<Ports, 'catalogs' | 'deployment' | 'now' | 'searchAttributes'>

/** A start about which everything is decided. It never changes: what is sent again is another one. */
export interface AdmittedStart {
  /** With the canonical workflow name and a workflow id. */
  readonly request: Readonly<EngineStart>
  /** Where the catalog says that traces are written; null when it does not say. */
  readonly traces: TraceTemplates | null
}

/**
 * Checks a start before anything is started. Rejects with `UnsupportedWorkflowError`, `ValidationError`,
 * `CatalogNotAvailableError`, or `NotSupportedError` for an id that cannot be sent to the engine.
 *
 * If cached data has no catalog, it is read again before a name is admitted unchecked, so that a catalog is never
 * missed.
 */
export async function admitStart(ports: AdmitStartPorts, command: StartCommand, call: Call): Promise<AdmittedStart> {
  assertSupportedId(ports.deployment.features, command)
  const decision = await decideFresh(
    (freshSince) => decide(ports, command, call, freshSince),
    ({ rejection, readAt }) => (rejection === null ? null : readAt),
    ports.now,
  )
  if (decision.rejection !== null) throw decision.rejection
  const { workflowName, traces } = decision
  const { workflowId = newId(), catalog, args, objectionTo } = command
  const options = await engineOptions(ports, command, call)
  const given = { ...(options && { options }), ...(objectionTo && { objectionTo }) }
  return { request: { workflowId, workflowName, catalog, args, ...given }, traces }
}

async function engineOptions(
  { searchAttributes: attributes }: Pick<Ports, 'searchAttributes'>,
  { options }: StartCommand,
  call: Call,
): Promise<WorkflowOptions | undefined> {
  if (options?.searchAttributes === undefined) return options
  return { ...options, searchAttributes: await attributes.withEngineTimes(options.searchAttributes, call) }
}

interface StartWithMessage {
  kind: 'signal' | 'update'
  start: StartCommand
  message: MessageCommand
}

/** The same for a start and the message that goes with it. Returns warnings about the message, too. */
export async function admitStartWith(
  ports: AdmitStartPorts & Pick<Ports, 'knownRuns'>,
  { kind, start, message }: StartWithMessage,
  call: Call,
): Promise<AdmittedStart & { warnings: string[] }> {
  const admitted = await admitStart(ports, start, call)
  // Only possible after the catalog was read: the id may be that of the catalog itself.
  rejectOlderCatalog(ports, admitted.request)
  const target = { ...start, workflowName: admitted.request.workflowName }
  return { ...admitted, warnings: await admitWithStart(ports, { kind, start: target, message }, call) }
}

type Decision = { rejection: ServiceError } | { rejection: null; workflowName: string; traces: TraceTemplates | null }

async function decide(
  ports: AdmitStartPorts,
  command: StartCommand,
  call: Call,
  freshSince: number,
): Promise<Decision & { readAt: number }> {
  const { catalogs, now = Date.now } = ports
  const { value: published, readAt } = await withinCall(catalogs.published(command.catalog, freshSince), call)
  if (published !== null) return { readAt, ...(await decideByCatalog(ports, command, call, published)) }
  const polled = await withinCall(catalogs.lastPolledAt(command.catalog, freshSince), call)
  if (!isPolling(polled.value, now()))
    return { readAt: Math.min(readAt, polled.readAt), rejection: notAvailable(command) }
  // Workers publish before they poll: a read that begins after a poll was seen finds the catalog of that worker.
  const afterPoll = await withinCall(catalogs.published(command.catalog, now()), call)
  const decision =
    afterPoll.value === null
      ? decideWithoutCatalog(command)
      : await decideByCatalog(ports, command, call, afterPoll.value)
  return { readAt: afterPoll.readAt, ...decision }
}

async function decideByCatalog(
  { catalogs }: AdmitStartPorts,
  command: StartCommand,
  call: Call,
  published: Published,
): Promise<Decision> {
  const { workflowNames, traces } = published
  const workflowName = workflowNames.get(command.workflowName)
  if (workflowName === undefined) return { rejection: unsupported(command, [...new Set(workflowNames.values())]) }
  const workflows = await withinCall(catalogs.workflows(published), call)
  if (workflows === null)
    call.note({ inputUnchecked: `the definition of catalog ${command.catalog} could not be read` })
  const entry = workflows?.find(({ name }) => name === workflowName)
  const isChecked = entry !== undefined && isEnforced(catalogs, published, pinnedVersionOf(command.options))
  const owner = `workflow "${workflowName}" in catalog "${command.catalog}"`
  const issues = isChecked ? await checkArgument(command, entry, owner, call) : []
  if (issues.length > 0) return { rejection: invalid(command, issues) }
  return { rejection: null, workflowName, traces }
}

function decideWithoutCatalog(command: StartCommand): Decision {
  // A TypeScript worker looks up workflows in a plain object, so it would run `toString`.
  if (command.workflowName in Object.prototype) return { rejection: unsupported(command, null) }
  return { rejection: null, workflowName: command.workflowName, traces: null }
}

function unsupported({ workflowName, catalog }: StartCommand, available: string[] | null): ServiceError {
  return new ServiceError('UnsupportedWorkflowError', `Catalog "${catalog}" has no workflow "${workflowName}"`, {
    details: available !== null && available.length <= MAX_AVAILABLE ? { available } : {},
  })
}

function invalid({ workflowName }: StartCommand, issues: Issue[]): ServiceError {
  const [first] = issues
  const message = `Invalid input for workflow "${workflowName}": ${`${first?.path} ${first?.message}`.trim()}`
  return new ServiceError('ValidationError', message, { details: { issues } })
}

function notAvailable({ catalog }: StartCommand): ServiceError {
  const message = `Catalog "${catalog}" is not available: it is not published, and no worker polls its task queue`
  return new ServiceError('CatalogNotAvailableError', message, { details: { retryAfterSeconds: 3 } })
}

/** Throws `NotSupportedError` for an id that cannot be sent to the engine, before any call is made. */
function assertSupportedId(
  { slashInIds }: Pick<EngineFeatures, 'slashInIds'>,
  { workflowId = '' }: StartCommand,
): void {
  if (slashInIds.supported || !workflowId.includes('/')) return
  throw new ServiceError(
    'NotSupportedError',
    `Workflow id "${workflowId}" is not supported: ${slashInIds.reason} (GET /capabilities: slashInIds)`,
    { details: { workflowId } },
  )
}
