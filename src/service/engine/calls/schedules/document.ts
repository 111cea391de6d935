/** A schedule as the engine stores it, and as the API shows it. */
import type { temporal } from '@temporalio/proto'
import { toBase64Url } from '../../../../shared/lib/base64.ts'
import { ScheduleOverlapPolicy } from '../../../../shared/temporal/enums.ts'
import { decodeProtocolMemo, fromPayload, memoFields, userFields } from '../../../../shared/temporal/payload.ts'
import { userSearchAttributes } from '../../../../shared/temporal/search-attributes.ts'
import { toDate, toDuration, toDurationMs, toInt64 } from '../../../../shared/temporal/time.ts'
import { SCHEDULE_MEMO, type ScheduleMark, toScheduleMark } from '../../../../shared/wire/schedule-mark.ts'
import type { Call } from '../../../model/call.ts'
import type { EngineSchedule } from '../../../model/engine.ts'
import type { Overlap, Schedule, ScheduledRun, ScheduleInfo } from '../../../model/schedule.ts'
import type { RetryOptions, WorkflowOptions } from '../../../model/workflow-options.ts'
import type { EngineContext } from '../../context.ts'
import { toRunOptions } from '../set-options.ts'
import { toStartWorkflow } from '../start.ts'
import { toSpec, toWhen } from './spec.ts'

type EngineForm = temporal.api.schedule.v1.ISchedule
type Action = temporal.api.workflow.v1.INewWorkflowExecutionInfo
type Described = temporal.api.workflowservice.v1.IDescribeScheduleResponse

export const OVERLAP = {
  skip: ScheduleOverlapPolicy.SKIP,
  'buffer-one': ScheduleOverlapPolicy.BUFFER_ONE,
  'buffer-all': ScheduleOverlapPolicy.BUFFER_ALL,
  'cancel-other': ScheduleOverlapPolicy.CANCEL_OTHER,
  'terminate-other': ScheduleOverlapPolicy.TERMINATE_OTHER,
  'allow-all': ScheduleOverlapPolicy.ALLOW_ALL,
} as const satisfies Record<Overlap, number>

/** The mark is part of the document: it changes exactly when the document does. */
export async function toEngineForm(
  context: EngineContext,
  { start, when, overlap, catchupWindowMs, pauseOnFailure, paused, note, remainingRuns }: EngineSchedule,
  mark: ScheduleMark,
  call: Call,
): Promise<EngineForm> {
  // What a request carries belongs to that request alone, not to each run.
  const { traceContext: _, forwardedHeaders: __, ...stored } = call
  const request = { ...start, protocolMemo: { [SCHEDULE_MEMO]: mark } }
  const { startWorkflow } = await toStartWorkflow(context, request, stored)
  const { namespace: ___, identity: ____, requestId: _____, ...action } = startWorkflow
  return {
    spec: toSpec(when),
    action: { startWorkflow: action },
    policies: { overlapPolicy: OVERLAP[overlap], catchupWindow: toDuration(catchupWindowMs), pauseOnFailure },
    state: {
      paused,
      notes: note ?? '',
      ...(remainingRuns !== null && { limitedActions: true, remainingActions: toInt64(remainingRuns) }),
    },
  }
}

export function markOf({ schedule }: Described): ScheduleMark | null {
  const field = memoFields(schedule?.action?.startWorkflow?.memo).get(SCHEDULE_MEMO)
  return field === undefined ? null : toScheduleMark(fromPayload(field))
}

export function scheduleVersion({ conflictToken }: Described): string {
  return toBase64Url(conflictToken ?? new Uint8Array())
}

export async function toSchedule(
  { payloads }: EngineContext,
  scheduleId: string,
  described: Described,
): Promise<Schedule> {
  const { spec, action, policies, state } = described.schedule ?? {}
  const started = action?.startWorkflow ?? {}
  const { workflowType, workflowId, taskQueue } = started
  const workflowName = workflowType?.name ?? ''
  const fields = memoFields(started.memo)
  const protocol = await decodeProtocolMemo(workflowName, fields, payloads)
  const memo = [...userFields(workflowName, fields, protocol)]
  const { summary, details } = started.userMetadata ?? {}
  const texts = [summary ?? {}, details ?? {}]
  const [args, values] = await Promise.all([
    payloads.decode(started.input?.payloads),
    payloads.redactable.decode([...memo.map(([, payload]) => payload), ...texts]),
  ])
  const memoValues = values.splice(0, memo.length)
  const text = (at: number) => (typeof values[at] === 'string' ? values[at] : undefined)
  return {
    scheduleId,
    version: scheduleVersion(described),
    workflowName,
    workflowId: workflowId ?? '',
    catalog: taskQueue?.name ?? '',
    args,
    memo: Object.fromEntries(memo.map(([name], at) => [name, memoValues[at]])),
    options: {
      ...toOptions(started),
      ...(summary && { summary: text(0) }),
      ...(details && { details: text(1) }),
    } as WorkflowOptions,
    when: toWhen(spec),
    overlap: overlapOf(policies?.overlapPolicy),
    catchupWindowMs: toDurationMs(policies?.catchupWindow),
    pauseOnFailure: policies?.pauseOnFailure === true,
    paused: state?.paused === true,
    note: state?.notes || null,
    remainingRuns: state?.limitedActions ? Number(state.remainingActions ?? 0) : null,
    set: markOf(described)?.set ?? null,
    info: toInfo(described),
  }
}

/** An engine that knows more policies than we do shows the default. */
function overlapOf(policy: number | null | undefined): Overlap {
  const [name = 'skip'] = Object.entries(OVERLAP).find(([, number]) => number === policy) ?? []
  return name as Overlap
}

function toOptions(action: Action): WorkflowOptions {
  const { searchAttributes, header, retryPolicy, versioningOverride, priority } = action
  const attributes = Object.entries(userSearchAttributes(searchAttributes))
  const headers = Object.entries(header?.fields ?? {})
  const set = toRunOptions({ versioningOverride: versioningOverride ?? null, priority: priority ?? null })
  const timeouts = {
    executionTimeoutMs: toDurationMs(action.workflowExecutionTimeout),
    runTimeoutMs: toDurationMs(action.workflowRunTimeout),
    taskTimeoutMs: toDurationMs(action.workflowTaskTimeout),
  }
  return {
    ...Object.fromEntries(Object.entries(timeouts).filter(([, ms]) => ms > 0)),
    ...(attributes.length > 0 && {
      searchAttributes: Object.fromEntries(attributes.map(([name, value]) => [name, { type: null, value }])),
    }),
    ...(headers.length > 0 && {
      headers: Object.fromEntries(headers.map(([name, payload]) => [name, fromPayload(payload) ?? null])),
    }),
    ...(retryPolicy && { retry: toRetry(retryPolicy) }),
    ...(set.priority && { priority: set.priority }),
    ...(set.versioningOverride && { versioningOverride: set.versioningOverride }),
  } as WorkflowOptions
}

function toRetry(policy: temporal.api.common.v1.IRetryPolicy): RetryOptions {
  const { backoffCoefficient, maximumAttempts, nonRetryableErrorTypes } = policy
  const initialIntervalMs = toDurationMs(policy.initialInterval)
  const maximumIntervalMs = toDurationMs(policy.maximumInterval)
  return {
    ...(initialIntervalMs > 0 && { initialIntervalMs }),
    ...(backoffCoefficient && { backoffCoefficient }),
    ...(maximumIntervalMs > 0 && { maximumIntervalMs }),
    ...(maximumAttempts && { maximumAttempts }),
    ...(nonRetryableErrorTypes?.length && { nonRetryableErrorTypes }),
  }
}

function toInfo({ info, schedule }: Described): ScheduleInfo {
  const { actionCount, overlapSkipped, bufferDropped, missedCatchupWindow, createTime, updateTime } = info ?? {}
  return {
    runs: Number(actionCount ?? 0),
    skipped: Number(overlapSkipped ?? 0) + Number(bufferDropped ?? 0),
    missed: Number(missedCatchupWindow ?? 0),
    next: toNext(info?.futureActionTimes, schedule?.state?.paused === true),
    recent: (info?.recentActions ?? []).map(toRecent),
    running: (info?.runningWorkflows ?? []).map((run) => ({
      workflowId: run.workflowId ?? '',
      runId: run.runId ?? '',
    })),
    createdAt: toDate(createTime),
    updatedAt: toDate(updateTime),
  }
}

/** The engine lists times of a paused schedule, too. */
export function toNext(times: temporal.api.schedule.v1.IScheduleInfo['futureActionTimes'], isPaused: boolean): Date[] {
  return isPaused ? [] : (times ?? []).flatMap((time) => toDate(time) ?? [])
}

/** Without a status: that of the engine stays `RUNNING`. */
export function toRecent({
  scheduleTime,
  actualTime,
  startWorkflowResult: run,
}: temporal.api.schedule.v1.IScheduleActionResult): ScheduledRun {
  return {
    scheduledAt: toDate(scheduleTime),
    startedAt: toDate(actualTime),
    workflowId: run?.workflowId ?? '',
    runId: run?.runId ?? '',
  }
}
