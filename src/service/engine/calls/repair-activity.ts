/** Repairs an activity. The engine records no event of it, and keeps an identity only with a pause. */
import type { temporal } from '@temporalio/proto'
import { toSnakeCase } from '../../../shared/temporal/field-mask.ts'
import { GrpcCode } from '../../../shared/temporal/grpc-code.ts'
import { toDuration, toDurationMs } from '../../../shared/temporal/time.ts'
import type { ActivityChange, ActivityOptions, ActivityRef, ActivityRetry } from '../../model/activity.ts'
import { atMost, type Call } from '../../model/call.ts'
import { TIMEOUT_MS } from '../../model/deadlines.ts'
import { type ErrorFacts, ServiceError } from '../../model/errors.ts'
import { type EngineContext, executionIds, IDENTITY, identityOf } from '../context.ts'
import { isGoneOrClosed, toServiceError } from '../errors.ts'
import type { LostResponseAction } from '../rpc.ts'
import { RpcError } from '../transport/transport.ts'
import { toLookupError } from './at-most-once/find-run.ts'
import { describe } from './describe.ts'

export async function retryActivity(
  context: EngineContext,
  activity: ActivityRef,
  { dropHeartbeat, restoreOptions, position }: ActivityRetry & { position: string },
  call: Call,
): Promise<void> {
  const request = {
    ...requestAbout(context, activity, call),
    resetHeartbeat: dropHeartbeat,
    restoreOriginalOptions: restoreOptions,
  }

  /** The engine does not recognize a repeated request, which could cut the attempt that the first one has started. */
  async function onLostResponse(): Promise<LostResponseAction<'resetActivityExecution', null>> {
    const run = await describe(context, activity, atMost(call, TIMEOUT_MS.describe)).catch((error) => {
      throw toLookupError(error, factsOf(activity))
    })
    const isUnchanged = run.openActivity?.(activity.activityId)?.position === position
    return isUnchanged ? { retryRequest: request } : { result: null }
  }

  await onActivity(activity, () => context.rpc('resetActivityExecution', request, call, { onLostResponse }))
}

export async function pauseActivity(
  context: EngineContext,
  activity: ActivityRef,
  reason: string | null,
  call: Call,
): Promise<void> {
  const request = { ...requestAbout(context, activity, call), reason: reason ?? '' }
  await onActivity(activity, () =>
    context.rpc('pauseActivityExecution', request, call).catch((error) => {
      if (!isPaused(error)) throw error
    }),
  )
}

export async function unpauseActivity(context: EngineContext, activity: ActivityRef, call: Call): Promise<void> {
  await onActivity(activity, () => context.rpc('unpauseActivityExecution', requestAbout(context, activity, call), call))
}

export async function setActivity(
  context: EngineContext,
  activity: ActivityRef,
  change: ActivityChange,
  call: Call,
): Promise<ActivityOptions> {
  const request = { ...requestAbout(context, activity, call), ...toUpdate(change) }
  const { activityOptions } = await onActivity(activity, () =>
    context.rpc('updateActivityExecutionOptions', request, call),
  )
  return toActivityOptions(activityOptions ?? {})
}

/** Tries to change nothing in an activity that does not exist: an engine without the call reports that it has none. */
export async function repairSupported({ rpc, namespace }: EngineContext, call: Call): Promise<boolean> {
  const request = { namespace, workflowId: '$none', activityId: '$none', identity: IDENTITY, updateMask: { paths: [] } }
  try {
    await rpc('updateActivityExecutionOptions', request, call)
    return true
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    if (error.code === GrpcCode.UNIMPLEMENTED) return false
    if (error.code === GrpcCode.INVALID_ARGUMENT || isGoneOrClosed(error)) return true
    throw toServiceError(error, { kind: 'read', details: {} })
  }
}

function requestAbout({ namespace }: EngineContext, { workflowId, runId, activityId }: ActivityRef, call: Call) {
  const requestId = crypto.randomUUID()
  return { namespace, workflowId, runId, activityId, identity: identityOf(call), requestId }
}

function factsOf(activity: ActivityRef): ErrorFacts {
  return { ...executionIds(activity), activityId: activity.activityId }
}

async function onActivity<T>(activity: ActivityRef, send: () => Promise<T>): Promise<T> {
  const details = factsOf(activity)
  try {
    return await send()
  } catch (error) {
    if (isGoneOrClosed(error)) {
      const message = `Activity "${activity.activityId}" of workflow ${activity.workflowId} is not open`
      throw new ServiceError('ActivityNotFoundError', message, { cause: error, details })
    }
    throw rejectedChange(error, details) ?? toServiceError(error, { kind: 'write', details })
  }
}

function isPaused(error: unknown): boolean {
  return (
    error instanceof RpcError &&
    error.code === GrpcCode.FAILED_PRECONDITION &&
    /^activity is already paused/i.test(error.message)
  )
}

/** Null for any other error. Over HTTP, the engine reports both with the same status. */
function rejectedChange(error: unknown, details: ErrorFacts): ServiceError | null {
  if (!(error instanceof RpcError)) return null
  if (error.code === GrpcCode.UNIMPLEMENTED) {
    const message = 'This version of the workflow engine cannot repair activities (GET /capabilities: repair)'
    return new ServiceError('NotSupportedError', message, { cause: error, details })
  }
  if (error.code !== GrpcCode.INVALID_ARGUMENT) return null
  const issue = /^MaximumInterval/.test(error.message)
    ? { path: '/retry/maximumInterval', message: 'must not be less than initialInterval' }
    : { path: '', message: 'has a value that the workflow engine rejects' }
  const message = `${issue.path || 'The body'} ${issue.message}`
  return new ServiceError('ValidationError', message, { cause: error, details: { ...details, issues: [issue] } })
}

type Update = Pick<
  temporal.api.workflowservice.v1.IUpdateActivityExecutionOptionsRequest,
  'activityOptions' | 'restoreOriginal' | 'updateMask'
>
type EngineOptions = temporal.api.activity.v1.IActivityOptions

/** One path for each field: a path of the whole retry policy would reset the others to defaults of the engine. */
function toUpdate(change: ActivityChange): Update {
  if (change === 'restore') return { restoreOriginal: true }
  const { taskQueue, retry = {}, ...timeouts } = change
  const { initialIntervalMs, maximumIntervalMs, ...numbers } = retry
  const retryPolicy = {
    ...numbers,
    ...(initialIntervalMs !== undefined && { initialInterval: toDuration(initialIntervalMs) }),
    ...(maximumIntervalMs !== undefined && { maximumInterval: toDuration(maximumIntervalMs) }),
  }
  const fields = {
    ...Object.fromEntries(Object.entries(timeouts).map(([name, ms]) => [name.slice(0, -'Ms'.length), toDuration(ms)])),
    ...(taskQueue !== undefined && { taskQueue: { name: taskQueue } }),
  }
  const names = [
    ...Object.keys(fields).map((name) => (name === 'taskQueue' ? 'taskQueue.name' : name)),
    ...Object.keys(retryPolicy).map((name) => `retryPolicy.${name}`),
  ]
  return { activityOptions: { ...fields, retryPolicy }, updateMask: { paths: names.map(toSnakeCase) } }
}

function toActivityOptions({ taskQueue, retryPolicy, ...timeouts }: EngineOptions): ActivityOptions {
  const { initialInterval, backoffCoefficient, maximumInterval, maximumAttempts } = retryPolicy ?? {}
  return {
    taskQueue: taskQueue?.name ?? '',
    startToCloseTimeoutMs: toDurationMs(timeouts.startToCloseTimeout) || null,
    scheduleToCloseTimeoutMs: toDurationMs(timeouts.scheduleToCloseTimeout) || null,
    scheduleToStartTimeoutMs: toDurationMs(timeouts.scheduleToStartTimeout) || null,
    heartbeatTimeoutMs: toDurationMs(timeouts.heartbeatTimeout) || null,
    retry: {
      initialIntervalMs: toDurationMs(initialInterval) || null,
      backoffCoefficient: backoffCoefficient || null,
      maximumIntervalMs: toDurationMs(maximumInterval) || null,
      maximumAttempts: maximumAttempts ?? 0,
    },
  }
}
