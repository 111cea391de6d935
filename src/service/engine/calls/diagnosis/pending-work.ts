import type { temporal } from '@temporalio/proto'
import { PendingActivityState as S, WorkflowExecutionStatus } from '../../../../shared/temporal/enums.ts'
import { toTaskError } from '../../../../shared/temporal/failed-task.ts'
import type { Failure } from '../../../../shared/temporal/failure.ts'
import type { TemporalEvent } from '../../../../shared/temporal/outcome.ts'
import {
  childSince,
  dueSince,
  openTimers,
  timeOfLatest,
  waitingSignals,
} from '../../../../shared/temporal/pending-events.ts'
import { toDate, toEpochMs } from '../../../../shared/temporal/time.ts'
import type { RunRef } from '../../../../shared/wire/run-ref.ts'
import type { Call } from '../../../model/call.ts'
import type { AttemptState, PendingActivity, PendingWork } from '../../../model/pending-work.ts'
import { type EngineContext, executionIds } from '../../context.ts'
import { toServiceError } from '../../errors.ts'
import { readLast } from '../history-pages.ts'
import { toTaskProblem } from './failing-task.ts'

type Described = temporal.api.workflowservice.v1.IDescribeWorkflowExecutionResponse

// One page, so that an explanation takes one call for any history. Pages of the engine count batches of events.
const PAGE_SIZE = 100

// A run may have thousands of pending activities. The response lists the reasons of the first ones only.
const MAX_LISTED = 50

const STATES = new Map<number, AttemptState>([
  [S.SCHEDULED, 'scheduled'],
  [S.STARTED, 'started'],
  [S.CANCEL_REQUESTED, 'cancel_requested'],
  [S.PAUSED, 'paused'],
  [S.PAUSE_REQUESTED, 'pause_requested'],
])

/** What an open run waits for: from its description and, for timers, from the history. */
export async function readPendingWork(
  context: EngineContext,
  run: RunRef,
  { pendingActivities, pendingChildren, pendingNexusOperations, pendingWorkflowTask, ...described }: Described,
  call: Call,
): Promise<PendingWork> {
  try {
    const last = await readLast(context, run, call, { maximumPageSize: PAGE_SIZE })
    // Events that are newer than the description would contradict it.
    const { historyLength } = described.workflowExecutionInfo ?? {}
    const events = last.events.filter(({ eventId }) => Number(eventId) <= Number(historyLength))
    const attempt = pendingWorkflowTask?.attempt ?? 1
    return {
      ...stateOf(described, events),
      workflowTask: pendingWorkflowTask
        ? {
            scheduledAt: dueSince(events) ?? toDate(pendingWorkflowTask.scheduledTime),
            startedAt: toDate(pendingWorkflowTask.startedTime),
          }
        : null,
      waitingSignals: waitingSignals(events),
      problem: attempt < 2 ? null : await toTaskProblem(context, attempt, call, async () => events),
      activities: await Promise.all(mostTried(pendingActivities ?? []).map((one) => toActivity(context, one, call))),
      children: (pendingChildren ?? []).slice(0, MAX_LISTED).map((child) => ({
        childWorkflowId: child.workflowId ?? '',
        childRunId: child.runId || null,
        childWorkflowName: child.workflowTypeName ?? '',
        since: childSince(events, String(child.initiatedId)),
      })),
      timers: openTimers(events).slice(0, MAX_LISTED),
      waitsForNexus: (pendingNexusOperations ?? []).length > 0,
      readFromStart: last.nextPageToken === null,
    }
  } catch (error) {
    throw toServiceError(error, { kind: 'read', details: executionIds(run) })
  }
}

function stateOf(
  { workflowExecutionInfo, workflowExtendedInfo }: Described,
  events: readonly TemporalEvent[],
): Pick<PendingWork, 'canceling' | 'idleSince' | 'paused'> {
  const isPaused = workflowExecutionInfo?.status === WorkflowExecutionStatus.PAUSED
  const { pausedTime, reason } = workflowExtendedInfo?.pauseInfo ?? {}
  return {
    paused: isPaused ? { since: toDate(pausedTime), reason: reason || null } : null,
    canceling: workflowExtendedInfo?.cancelRequested
      ? { since: timeOfLatest(events, 'workflowExecutionCancelRequestedEventAttributes') }
      : null,
    idleSince: timeOfLatest(events, 'workflowTaskCompletedEventAttributes'),
  }
}

type Activity = temporal.api.workflow.v1.IPendingActivityInfo

function mostTried(activities: readonly Activity[]): Activity[] {
  return activities.toSorted((one, other) => (other.attempt ?? 1) - (one.attempt ?? 1)).slice(0, MAX_LISTED)
}

async function toActivity(context: EngineContext, activity: Activity, call: Call): Promise<PendingActivity> {
  const { activityId, activityType, activityOptions, state, attempt, maximumAttempts, lastFailure, pauseInfo } =
    activity
  return {
    activityId: activityId ?? '',
    name: activityType?.name ?? '',
    taskQueue: activityOptions?.taskQueue?.name ?? '',
    state: STATES.get(state ?? 0) ?? 'scheduled',
    pauseReason: pauseInfo?.manual?.reason || null,
    attempt: attempt ?? 1,
    maximumAttempts: maximumAttempts || null,
    since: toDate(sinceOf(activity)),
    nextAttemptAt: isBackingOff(activity) ? toDate(activity.nextAttemptScheduleTime) : null,
    lastFailure: lastFailure ? await toLastFailure(context, lastFailure, call) : null,
  }
}

/** The engine sets `scheduledTime` to the time of the next attempt while that is in the future. */
function sinceOf(activity: Activity): Activity['scheduledTime'] {
  if (activity.state !== S.SCHEDULED) return activity.lastStartedTime
  return isBackingOff(activity) ? activity.lastAttemptCompleteTime : activity.scheduledTime
}

export function isBackingOff({ state, nextAttemptScheduleTime }: Activity): boolean {
  return state === S.SCHEDULED && toEpochMs(nextAttemptScheduleTime) !== null
}

/** Null if the failure cannot be decoded: the explanation is useful without it. */
async function toLastFailure(
  { payloads }: EngineContext,
  failure: Failure,
  call: Call,
): Promise<PendingActivity['lastFailure']> {
  try {
    const { name, message } = await toTaskError(failure, payloads)
    return { name, message }
  } catch (error) {
    call.note({ reasonUnread: error })
    return { name: 'Error', message: 'the failure could not be decoded' }
  }
}
