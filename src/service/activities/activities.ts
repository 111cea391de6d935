/** Reads, ends and lists standalone activities. */
import { newId } from '../../shared/lib/new-id.ts'
import { type Closing, isOpen } from '../../shared/wire/execution.ts'
import { REDACTED, redactSecrets } from '../../shared/wire/secret-names.ts'
import { readPublished } from '../catalog/catalogs.ts'
import type {
  ActivityReport,
  CompleteActivityCommand,
  FailActivityCommand,
  HeartbeatCommand,
} from '../model/activity.ts'
import type {
  ActivityResultCommand,
  ControlActivityCommand,
  ListActivitiesCommand,
  OfStandalone,
  OnActivity,
  StoppedActivity,
} from '../model/activity-commands.ts'
import { addIds } from '../model/attach-ids.ts'
import { type Call, isAbortedByService, unabortable, withTimeout } from '../model/call.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import { hasErrorName, isOutage, ServiceError } from '../model/errors.ts'
import { activityMarkOf } from '../model/keyed-id.ts'
import { enginePage } from '../model/page-token.ts'
import {
  type ActivityPage,
  type ActivityResult,
  type ActivityState,
  activityNotRunning,
  type DescribedActivity,
  type ReadActivity,
  type StandaloneRef,
  type StandaloneRun,
} from '../model/standalone-activity.ts'
import { outputStoredElsewhere } from '../model/stored-elsewhere.ts'
import type { Ports } from '../ports.ts'
import { endedEarly } from '../runs/chain-end.ts'

export type ActivityPorts = Pick<Ports, 'engine' | 'engineSupport'>

/** Rejects with `NotSupportedError` if the engine has no standalone activities in the namespace. */
export async function requireActivities({ engineSupport }: Pick<Ports, 'engineSupport'>, call: Call): Promise<void> {
  if (await engineSupport.activities(call)) return
  const message =
    'The workflow engine has no standalone activities in this namespace (GET /capabilities: standaloneActivities)'
  throw new ServiceError('NotSupportedError', message)
}

async function describe({ engine }: ActivityPorts, ref: StandaloneRef, call: Call): Promise<DescribedActivity> {
  const activity = await engine.describeActivity(ref, call)
  call.audit({ runId: activity.runId })
  return activity
}

async function read({ engine }: ActivityPorts, ref: StandaloneRef, call: Call): Promise<ReadActivity> {
  const activity = await engine.readActivity(ref, call)
  call.audit({ runId: activity.runId })
  return activity
}

/** Values are masked as in the status of a workflow. */
export async function readActivityStatus(
  ports: ActivityPorts & Pick<Ports, 'catalogs'>,
  { ref }: OnActivity,
  call: Call,
): Promise<ActivityState> {
  await requireActivities(ports, call)
  const activity = await describe(ports, ref, call)
  const { searchAttributes } = activity
  const { redacted } = await readPublished(ports, activity, call)
  const [lastFailure, progress] = await Promise.all([
    orNull(activity.lastFailure(), call),
    orNull(activity.progress(), call),
  ])
  const mask = (value: unknown) => (redacted ? REDACTED : redactSecrets(value))
  return {
    ...shownState(activity),
    lastFailure: lastFailure && redacted ? { ...lastFailure, message: REDACTED } : lastFailure,
    progress: progress && { ...progress, details: mask(progress.details) },
    searchAttributes: Object.fromEntries(
      Object.entries(redactSecrets(searchAttributes) as object).map(([name, value]) => [
        name,
        redacted ? REDACTED : value,
      ]),
    ),
  }
}

function shownState(activity: DescribedActivity) {
  const { activityId, runId, status, activityName, catalog, startedAt, completedAt } = activity
  const { attempt, nextAttemptAt, cancelRequested } = activity
  return {
    activityId,
    runId,
    status,
    activityName,
    catalog,
    startedAt,
    completedAt,
    attempt,
    nextAttemptAt,
    cancelRequested,
  }
}

/** Null if the values cannot be decoded: the status is useful without them. */
async function orNull<T>(values: Promise<T | null>, call: Call): Promise<T | null> {
  try {
    return await values
  } catch (error) {
    if (!hasErrorName(error, 'PayloadCodecError')) throw error
    call.note({ valuesUnread: error })
    return null
  }
}

/** The result. Rejects with `ActivityNotCompletedError` while the run is open, unless the request waits. */
export async function activityResult(
  ports: ActivityPorts & Pick<Ports, 'limitLastReads'>,
  { ref, waitMs }: ActivityResultCommand,
  call: Call,
): Promise<ActivityResult> {
  const arrivedAt = Date.now()
  await requireActivities(ports, call)
  const run = await read(ports, ref, call)
  if (run.closing !== null) return toResult(run, run.closing)
  const { activityId, runId, status: activityStatus, input } = run
  if (waitMs !== null) {
    call.startWaiting()
    return awaitResult(ports, { run: { activityId, runId }, arrivedAt, waitMs, input }, call)
  }
  const message = `Activity ${activityId} has no result yet; its status is ${activityStatus}`
  throw new ServiceError('ActivityNotCompletedError', message, { details: { activityId, runId, activityStatus } })
}

interface Wait {
  run: StandaloneRun
  /** Epoch milliseconds of the request. */
  arrivedAt: number
  waitMs: number
  /** Absent if it must be read. */
  input?: unknown
}

/** Waits for the end of a run. Every error carries its ids. */
export async function awaitResult(
  ports: Pick<Ports, 'engine' | 'limitLastReads'>,
  wait: Wait,
  call: Call,
): Promise<ActivityResult> {
  const { run, arrivedAt, waitMs } = wait
  try {
    const closing = await ports.engine.waitForActivity(run, { ...call, deadlineAt: arrivedAt + waitMs })
    if (closing !== null && 'input' in wait) return toResult({ ...run, input: wait.input }, closing)
    const last = await readLast(ports, run, closing, call)
    if (last?.closing) return toResult(last, last.closing)
    throw timedOut(run, last, waitMs, call)
  } catch (error) {
    throw addIds(error, run)
  }
}

/** Reads the run once more when the time is over: a poll may return late, or never. Null if it cannot be read. */
async function readLast(
  { engine, limitLastReads = (read) => read() }: Pick<Ports, 'engine' | 'limitLastReads'>,
  run: StandaloneRun,
  closing: Closing | null,
  call: Call,
): Promise<Pick<ReadActivity, 'closing' | 'input' | 'status' | keyof StandaloneRun> | null> {
  const { aborted } = call.signal
  if (aborted && !isAbortedByService(call.signal)) return null
  const ms = aborted ? TIMEOUT_MS.closedRunAtShutdown : TIMEOUT_MS.closedRun
  const bounded = aborted ? unabortable(call, ms) : unabortable(withTimeout(call, ms), ms)
  try {
    return await limitLastReads(() => engine.readActivity(run, bounded))
  } catch (error) {
    if (!isOutage(error)) throw error
    call.note({ endUnread: error.message })
    // The client has waited for the outcome, which may be known without the input.
    return closing && { ...run, input: null, status: 'running', closing }
  }
}

function timedOut(
  { activityId, runId }: StandaloneRun,
  last: Pick<ReadActivity, 'status'> | null,
  waitMs: number,
  { signal }: Call,
): ServiceError {
  const state = last === null ? '; its status could not be read' : ' and is still running'
  const early = signal.aborted ? endedEarly(signal.reason) : null
  const message = early?.message ?? `Activity ${activityId} did not complete within ${waitMs} ms${state}`
  return new ServiceError('ActivityExecutionTimedOutError', message, {
    details: {
      activityId,
      runId,
      ...(last && { activityStatus: last.status }),
      ...(!early?.isOfCredential && { retryAfterSeconds: 1 }),
    },
  })
}

/** Throws `NotSupportedError` when the output is stored outside the engine. */
function toResult(
  { activityId, runId, input }: Pick<ReadActivity, 'input' | keyof StandaloneRun>,
  { outcome }: Closing,
): ActivityResult {
  if (outcome.status === 'completed' && outcome.storedElsewhere !== undefined) {
    const facts = { activityId, runId, activityStatus: outcome.status }
    throw outputStoredElsewhere(`The output of activity ${activityId}`, outcome.storedElsewhere, facts)
  }
  const error = 'error' in outcome ? outcome.error : null
  return {
    activityId,
    runId,
    status: outcome.status,
    input,
    output: outcome.status === 'completed' ? outcome.output : null,
    error: error && (error.message || error.name),
    errorDetails: error,
  }
}

export async function stopActivity(
  ports: ActivityPorts,
  { ref, reason }: ControlActivityCommand,
  call: Call,
): Promise<StoppedActivity> {
  await requireActivities(ports, call)
  const { activityId, runId, status } = await describe(ports, ref, call)
  const run = { activityId, runId }
  if (!isOpen(status)) return { ...run, cancelRequested: false, status }
  const cancelRequested = await ports.engine.cancelActivity(run, reason, call)
  // It has ended meanwhile.
  const last = cancelRequested ? status : (await ports.engine.describeActivity(run, call)).status
  return { ...run, cancelRequested, status: last }
}

export async function terminateActivity(
  ports: ActivityPorts,
  { ref, reason }: ControlActivityCommand,
  call: Call,
): Promise<StandaloneRun> {
  await requireActivities(ports, call)
  const { activityId, runId, status } = await describe(ports, ref, call)
  const run = { activityId, runId }
  if (!isOpen(status)) throw activityNotRunning({ ...run, status })
  await ports.engine.terminateActivity(run, reason, call)
  return run
}

export async function completeStandalone(
  ports: ActivityPorts,
  command: OfStandalone<CompleteActivityCommand>,
  call: Call,
): Promise<StandaloneRun & { isRepeated: boolean }> {
  const values = 'output' in command ? [command.output] : []
  const { cancelRequested: _, ...reported } = await report(ports, command, { kind: 'complete', values }, call)
  return reported
}

export async function failStandalone(
  ports: ActivityPorts,
  command: OfStandalone<FailActivityCommand>,
  call: Call,
): Promise<StandaloneRun> {
  const { activityId, runId } = await report(ports, command, { kind: 'fail', failure: command.failure }, call)
  return { activityId, runId }
}

export async function heartbeatStandalone(
  ports: ActivityPorts,
  command: OfStandalone<HeartbeatCommand>,
  call: Call,
): Promise<StandaloneRun & { cancelRequested: boolean }> {
  const values = 'details' in command ? [command.details] : []
  const { isRepeated: _, ...reported } = await report(ports, command, { kind: 'heartbeat', values }, call)
  return reported
}

type Reported = StandaloneRun & { cancelRequested: boolean; isRepeated: boolean }

/** If the run ends meanwhile, it is read again to find out how. */
async function report(
  ports: ActivityPorts,
  { ref, idempotencyKey }: OnActivity & { idempotencyKey?: string },
  report: ActivityReport,
  call: Call,
): Promise<Reported> {
  await requireActivities(ports, call)
  const { activityId } = ref
  const mark = idempotencyKey === undefined ? null : await activityMarkOf(idempotencyKey, report.kind, activityId)

  async function reportTo(activity: DescribedActivity): Promise<Reported> {
    const { runId, status } = activity
    const run = { activityId, runId }
    if (mark !== null && activity.isMarked(mark)) return { ...run, cancelRequested: false, isRepeated: true }
    if (!isOpen(status)) throw notOpen(activity)
    if (!activity.isStarted && report.kind !== 'complete') throw notStarted(run)
    const reported = await ports.engine.reportActivity(run, report, mark ?? newId(), call)
    return { ...run, ...reported, isRepeated: false }
  }

  // Only a report with a key needs the outcome, which may have its mark.
  const activity = await (mark === null ? describe : read)(ports, ref, call)
  try {
    return await reportTo(activity)
  } catch (error) {
    if (!hasErrorName(error, 'ActivityNotFoundError') || error.cause === undefined) throw error
    return reportTo(await read(ports, { activityId, runId: activity.runId }, call))
  }
}

function notOpen({ activityId, runId, status }: DescribedActivity): ServiceError {
  const message = `Activity ${activityId} is not open; its status is ${status}`
  const completed = status === 'completed' ? { completed: true as const } : {}
  return new ServiceError('ActivityNotFoundError', message, {
    details: { activityId, runId, activityStatus: status, ...completed },
  })
}

function notStarted(run: StandaloneRun): ServiceError {
  const message = `Activity ${run.activityId} has no attempt that is running now`
  return new ServiceError('WorkflowNotReadyError', message, { details: { ...run } })
}

export async function listActivities(
  ports: ActivityPorts & Pick<Ports, 'catalogs'>,
  { filter, ...page }: ListActivitiesCommand,
  call: Call,
): Promise<ActivityPage> {
  return enginePage({ namespace: ports.catalogs.namespace, activities: filter }, page, async (from) => {
    await requireActivities(ports, call)
    return ports.engine.listActivities(filter, from, call)
  })
}
