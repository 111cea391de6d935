import type { temporal } from '@temporalio/proto'
import { type DescribedRun, describeRun } from '../../../shared/temporal/describe-run.ts'
import { PendingActivityState, PendingWorkflowTaskState } from '../../../shared/temporal/enums.ts'
import { decodeFailure, toErrorCause } from '../../../shared/temporal/failure.ts'
import type { TemporalEvent } from '../../../shared/temporal/outcome.ts'
import {
  decodeProtocolMemo,
  memoFields,
  type Payload,
  type PayloadReader,
  userFields,
} from '../../../shared/temporal/payload.ts'
import { userSearchAttributes } from '../../../shared/temporal/search-attributes.ts'
import { toDurationMs, toEpochMs } from '../../../shared/temporal/time.ts'
import { toRunVersion } from '../../../shared/temporal/worker-version.ts'
import { ASKS_MEMO } from '../../../shared/wire/asks.ts'
import { type Closing, isOpen } from '../../../shared/wire/execution.ts'
import type { Call } from '../../model/call.ts'
import type { Description, ExecutionRef, OpenActivity, PendingStep, UserValues } from '../../model/execution.ts'
import { type EngineContext, executionIds, type Payloads, toExecution } from '../context.ts'
import { toServiceError } from '../errors.ts'
import { readClosing } from '../waits/follow-run.ts'
import { toFailingTask } from './diagnosis/failing-task.ts'
import { isBackingOff, readPendingWork } from './diagnosis/pending-work.ts'
import { failureMarkOf } from './failure-mark.ts'
import { toHeartbeats } from './heartbeats.ts'
import { readEnd } from './history-pages.ts'

export async function describe(context: EngineContext, ref: ExecutionRef, call: Call): Promise<Description> {
  const { rpc, namespace, payloads, clock } = context
  try {
    const described = await rpc('describeWorkflowExecution', { namespace, execution: toExecution(ref) }, call)
    const { workflowExecutionInfo, workflowExtendedInfo, pendingActivities, pendingWorkflowTask } = described
    const { workflowExecutionTimeout, workflowRunTimeout } = described.executionConfig ?? {}
    const { resetRunId } = workflowExtendedInfo ?? {}
    const run = { ...describeRun(workflowExecutionInfo), workflowId: ref.workflowId }
    const memo = await decodeProtocolMemo(run.workflowName, memoFields(run.memo), payloads)
    const userValues = toUserValues(run, memo, described, payloads)
    // A run that was terminated still lists the activities that were pending.
    const heartbeats = isOpen(run.status) && toHeartbeats(pendingActivities ?? [], payloads)
    const failingTask = toFailingTask(context, run, pendingWorkflowTask)
    clock.observe((run.completedAt ?? run.startedAt)?.getTime() ?? null)
    return {
      ...run,
      memo,
      workerVersion: toRunVersion(workflowExecutionInfo?.versioningInfo),
      // Zero means that there is no limit.
      executionTimeoutMs: toDurationMs(workflowExecutionTimeout) || null,
      runTimeoutMs: toDurationMs(workflowRunTimeout) || null,
      ...(userValues && { userValues }),
      ...(heartbeats && { heartbeats }),
      pendingSteps: () =>
        Promise.all((pendingActivities ?? []).map((activity) => toPendingStep(activity, run, payloads.redactable))),
      openActivity: (activityId) => openActivity(pendingActivities ?? [], activityId),
      ...(failingTask && { failingTask }),
      ...(resetRunId && { resetRunId }),
      ...(isUnstarted(pendingWorkflowTask) && { hasUnstartedTask: true }),
      ...readersOf(context, run, described),
    }
  } catch (error) {
    throw toServiceError(error, { kind: 'read', details: executionIds(ref) })
  }
}

/** The functions of a description that read what only some callers need. */
function readersOf(
  context: EngineContext,
  run: DescribedRun,
  described: temporal.api.workflowservice.v1.IDescribeWorkflowExecutionResponse,
): Pick<Description, 'asks' | 'pendingWork' | 'readEnd'> {
  if (!isOpen(run.status)) return { readEnd: (call) => closingOf(context, run, call) }
  const asks = memoFields(run.memo).get(ASKS_MEMO)
  return {
    pendingWork: (call) => readPendingWork(context, run, described, call),
    ...(asks && { asks: async () => (await context.payloads.decodeJson([asks]))[0] }),
  }
}

async function closingOf(context: EngineContext, run: DescribedRun, call: Call): Promise<Closing | null> {
  // The reason of a cancellation is in an earlier event of its own.
  const isCanceled = run.status === 'canceled'
  const isEnough = ({ workflowExecutionCancelRequestedEventAttributes: request }: TemporalEvent) =>
    !isCanceled || request != null
  try {
    return await readClosing(await readEnd(context, run, call, isEnough, isCanceled), context.payloads, run.workflowId)
  } catch (error) {
    throw toServiceError(error, { kind: 'read', details: executionIds(run) })
  }
}

/** Undefined if the run has none. A memo may be megabytes, so it is decoded only by callers that show it. */
function toUserValues(
  { workflowName, memo }: DescribedRun,
  decoded: ReadonlyMap<string, unknown>,
  { workflowExecutionInfo, executionConfig }: temporal.api.workflowservice.v1.IDescribeWorkflowExecutionResponse,
  { redactable }: Payloads,
): UserValues | undefined {
  const fields = userFields(workflowName, memoFields(memo), decoded)
  const searchAttributes = userSearchAttributes(workflowExecutionInfo?.searchAttributes)
  const { summary, details } = executionConfig?.userMetadata ?? {}
  const texts = new Map(Object.entries({ ...(summary && { summary }), ...(details && { details }) }))
  if (fields.size === 0 && texts.size === 0 && Object.keys(searchAttributes).length === 0) return undefined
  const named = (values: ReadonlyMap<string, Payload>) => ({
    names: [...values.keys()],
    decode: () => redactable.decode([...values.values()]),
  })
  return { memo: named(fields), ...(texts.size > 0 && { texts: named(texts) }), searchAttributes }
}

/**
 * Whether the first attempt of the task waits for a worker. Later attempts do not count: the history records them only
 * when they end.
 */
function isUnstarted(task: temporal.api.workflow.v1.IPendingWorkflowTaskInfo | null | undefined): boolean {
  return task?.state === PendingWorkflowTaskState.SCHEDULED && (task.attempt ?? 1) < 2
}

function openActivity(
  pending: readonly temporal.api.workflow.v1.IPendingActivityInfo[],
  activityId: string,
): OpenActivity | null {
  const activity = pending.find((one) => one.activityId === activityId)
  if (activity === undefined) return null
  const { activityType, state, lastFailure, attempt, lastAttemptCompleteTime, nextAttemptScheduleTime } = activity
  const isStarted = state !== PendingActivityState.SCHEDULED && state !== PendingActivityState.PAUSED
  const times = [toEpochMs(lastAttemptCompleteTime), toEpochMs(nextAttemptScheduleTime)]
  return {
    activityType: activityType?.name ?? '',
    isStarted,
    isCancelRequested: state === PendingActivityState.CANCEL_REQUESTED,
    failureMark: failureMarkOf(lastFailure),
    position: [state, attempt, ...times].join(),
  }
}

async function toPendingStep(
  activity: temporal.api.workflow.v1.IPendingActivityInfo,
  { status }: DescribedRun,
  payloads: PayloadReader,
): Promise<PendingStep> {
  const { activityId, attempt, lastFailure, lastStartedTime, lastAttemptCompleteTime, nextAttemptScheduleTime } =
    activity
  const lastStartedAt = toEpochMs(lastStartedTime)
  const lastEndedAt = toEpochMs(lastAttemptCompleteTime)
  const nextAttemptAt = isOpen(status) && isBackingOff(activity) ? toEpochMs(nextAttemptScheduleTime) : null
  return {
    activityId: activityId ?? '',
    attempts: attempt ?? 1,
    lastFailure: lastFailure ? toErrorCause(await decodeFailure(lastFailure, payloads)) : null,
    times: {
      ...(lastStartedAt !== null && { lastStartedAt }),
      ...(nextAttemptAt !== null && { ...(lastEndedAt !== null && { lastEndedAt }), nextAttemptAt }),
    },
  }
}
