/** Starts a standalone activity, and waits for its result or not. */
import { decideFresh } from '../../shared/lib/cache.ts'
import { newId } from '../../shared/lib/new-id.ts'
import type { HandlerEntry } from '../../shared/wire/catalog.ts'
import { toSingleValue } from '../../shared/wire/execution.ts'
import { checkArgument, isPolling } from '../catalog/catalogs.ts'
import type { ActivityStart, RunActivityCommand, StartActivityCommand } from '../model/activity-commands.ts'
import { attachIds } from '../model/attach-ids.ts'
import { atMost, type Call, withinCall } from '../model/call.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import { hasErrorName, MAX_AVAILABLE, ServiceError } from '../model/errors.ts'
import { type StartKey, toStartKey } from '../model/keyed-id.ts'
import { type ActivityResult, activityIdInUse, type EngineActivity } from '../model/standalone-activity.ts'
import type { Ports } from '../ports.ts'
import { mayBeRepeated, ONLY_UNUSED, withRetryAfter } from '../start/start.ts'
import { type ActivityPorts, awaitResult, requireActivities } from './activities.ts'

type StartPorts = ActivityPorts & Pick<Ports, 'catalogs' | 'deployment' | 'now' | 'searchAttributes'>

export async function startActivity(
  ports: StartPorts,
  command: StartActivityCommand,
  call: Call,
): Promise<ActivityStart> {
  const run = await startOrFind(ports, command, call)
  call.audit({ activityId: run.activityId, runId: run.runId })
  return run
}

/** Starts the activity and waits for its end. Every error after the start carries the ids of the run. */
export async function runActivity(
  ports: StartPorts & Pick<Ports, 'limitLastReads'>,
  { timeoutMs: waitMs, onStarted, ...command }: RunActivityCommand,
  call: Call,
): Promise<ActivityResult> {
  const arrivedAt = Date.now()
  const start = await startActivity(ports, command, call)
  const { activityId, runId, isRepeated, isExisting } = start
  call.startWaiting()
  onStarted?.(start)
  // Nothing is known about the run of another request.
  const known = isRepeated || isExisting ? {} : { input: toSingleValue(command.args) }
  try {
    return await awaitResult(ports, { run: { activityId, runId }, arrivedAt, waitMs, ...known }, call)
  } catch (error) {
    // With a key it is safe to repeat the request.
    throw command.idempotencyKey === undefined ? attachIds(error, {}) : error
  }
}

async function startOrFind(ports: StartPorts, command: StartActivityCommand, call: Call): Promise<ActivityStart> {
  await requireActivities(ports, call)
  const { idempotencyKey } = command
  if (idempotencyKey === undefined) return send(ports, command, await admit(ports, command, call), call)
  const { catalog, args, limits, options } = command
  const named = { workflowName: command.activityName, catalog, args, options: { ...options, ...limits } }
  const startKey = await toStartKey(idempotencyKey, named)
  const keyed = { ...command, activityId: command.activityId ?? startKey.key }
  try {
    return await sendOnce(ports, keyed, startKey, call)
  } catch (error) {
    throw withRetryAfter(error, { workflowId: keyed.activityId, startKey })
  }
}

/**
 * Sends a start once for each key, as that of a workflow: docs/decisions/034-idempotency-keys.md. The first attempt
 * starts only if the id has no run. Which request has started the latest run is in its header.
 */
async function sendOnce(
  ports: StartPorts,
  command: StartActivityCommand & { activityId: string },
  startKey: StartKey,
  call: Call,
): Promise<ActivityStart> {
  let admitted: EngineActivity | null = null
  try {
    admitted = { ...(await admit(ports, command, call)), startKey }
    const options = { ...admitted.options, ...ONLY_UNUSED }
    return await send(ports, command, { ...admitted, options }, call)
  } catch (error) {
    const repeated = await findRepeated(ports, command, startKey, error, call)
    if (repeated !== null) return repeated
    if (admitted === null || !hasErrorName(error, 'ActivityAlreadyStartedError')) throw error
  }
  try {
    // Two requests with the key may get here at once: with the same request id the engine starts one run for both.
    return await send(ports, command, { ...admitted, requestId: startKey.request }, call)
  } catch (error) {
    const repeated = await findRepeated(ports, command, startKey, error, call)
    if (repeated === null) throw error
    return repeated
  }
}

/** The run that has the id, if a request with the key has started it; otherwise null. */
async function findRepeated(
  { engine }: StartPorts,
  { activityId }: { activityId: string },
  startKey: StartKey,
  error: unknown,
  call: Call,
): Promise<ActivityStart | null> {
  if (!mayBeRepeated(error)) throw error
  // Another request may use the id after the engine has named a run.
  const runId = hasErrorName(error, 'ActivityAlreadyStartedError') ? error.details.runId : undefined
  const ref = { activityId, ...(runId !== undefined && { runId }) }
  const found = await engine.describeActivity(ref, atMost(call, TIMEOUT_MS.describe)).catch((failure) => {
    if (hasErrorName(failure, 'ActivityNotFoundError')) return null
    // The id is in use, perhaps by the run that the key has started: a second attempt could start another one.
    throw hasErrorName(error, 'ActivityAlreadyStartedError') ? failure : error
  })
  if (found?.startKey?.key !== startKey.key) return null
  if (found.startKey.request === startKey.request)
    return { activityId, runId: found.runId, status: found.status, isRepeated: true }
  const message =
    'The Idempotency-Key was used for another request: activity name, catalog, arguments or options differ'
  throw new ServiceError('IdempotencyKeyReusedError', message, { details: { activityId, runId: found.runId } })
}

async function send(
  { engine }: StartPorts,
  { admits }: StartActivityCommand,
  activity: EngineActivity,
  call: Call,
): Promise<ActivityStart> {
  const started = await engine.startActivity(activity, call).catch((error) => {
    throw admits === undefined ? error : withoutRun(error)
  })
  if (!started.isExisting) return { ...started, status: 'running' }
  const { activityName } = admits === undefined ? activity : await engine.describeActivity(started, call)
  if (admits?.(activityName) === false) throw activityIdInUse({ activityId: activity.activityId })
  return { ...started, status: 'running' }
}

/** The run may be of a type that the caller may not know. */
function withoutRun(error: unknown): unknown {
  if (!hasErrorName(error, 'ActivityAlreadyStartedError')) return error
  return activityIdInUse({ activityId: error.details.activityId ?? '' }, error.cause)
}

/** Checks name and input if the catalog describes activities; else only that a worker polls for activities. */
async function admit(ports: StartPorts, command: StartActivityCommand, call: Call): Promise<EngineActivity> {
  const { activityId = newId(), activityName, catalog, args, limits, options } = command
  requireSendable(ports, activityId)
  const rejection = await rejectionOf(ports, command, call)
  if (rejection !== null) throw rejection
  const attributes = options?.searchAttributes
  const searchAttributes = attributes && (await ports.searchAttributes.withEngineTimes(attributes, call))
  const given = { ...options, ...(searchAttributes && { searchAttributes }) }
  return { activityId, activityName, catalog, args, limits, options: given }
}

async function rejectionOf(
  { catalogs, now = Date.now }: StartPorts,
  command: StartActivityCommand,
  call: Call,
): Promise<ServiceError | null> {
  const { catalog, activityName } = command
  const { rejection } = await decideFresh(
    async (freshSince) => {
      const { value: published, readAt } = await withinCall(catalogs.published(catalog, freshSince), call)
      const described = published === null ? [] : await withinCall(catalogs.activities(published), call)
      if (described.length > 0) return { readAt, rejection: await rejectionByCatalog(described, command, call) }
      const polled = await withinCall(catalogs.lastPolledAt(catalog, freshSince, 'activity'), call)
      const rejection = isPolling(polled.value, now()) ? null : notAvailable(command)
      return { readAt: Math.min(readAt, polled.readAt), rejection }
    },
    // A cached catalog may be older than the activity.
    ({ rejection, readAt }) => (rejection === null ? null : readAt),
    now,
  )
  // A TypeScript worker looks up activities in a plain object, so it would run `toString`.
  return rejection ?? (activityName in Object.prototype ? unsupported(command, null) : null)
}

async function rejectionByCatalog(
  described: readonly HandlerEntry[],
  command: StartActivityCommand,
  call: Call,
): Promise<ServiceError | null> {
  const { activityName, catalog } = command
  const entry = described.find(({ name }) => name === activityName)
  if (entry === undefined)
    return unsupported(
      command,
      described.map(({ name }) => name).filter((name) => command.admits?.(name) ?? true),
    )
  const issues = await checkArgument(command, entry, `activity "${activityName}" in catalog "${catalog}"`, call)
  const [first] = issues
  if (first === undefined) return null
  const message = `Invalid input for activity "${activityName}": ${`${first.path} ${first.message}`.trim()}`
  return new ServiceError('ValidationError', message, { details: { issues } })
}

function unsupported({ activityName, catalog }: StartActivityCommand, available: string[] | null): ServiceError {
  return new ServiceError('UnsupportedActivityError', `Catalog "${catalog}" has no activity "${activityName}"`, {
    details: available !== null && available.length <= MAX_AVAILABLE ? { available } : {},
  })
}

function notAvailable({ catalog }: StartActivityCommand): ServiceError {
  const message = `Catalog "${catalog}" is not available: no worker polls its task queue for activities`
  return new ServiceError('CatalogNotAvailableError', message, { details: { retryAfterSeconds: 3 } })
}

function requireSendable({ deployment }: StartPorts, activityId: string): void {
  const { slashInIds } = deployment.features
  if (slashInIds.supported || !activityId.includes('/')) return
  const message = `Activity id "${activityId}" is not supported: ${slashInIds.reason} (GET /capabilities: slashInIds)`
  throw new ServiceError('NotSupportedError', message, { details: { activityId } })
}
