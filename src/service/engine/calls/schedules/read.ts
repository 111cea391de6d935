import type { temporal } from '@temporalio/proto'
import { retryWithBackoff } from '../../../../shared/lib/abort.ts'
import { fromBase64, toBase64 } from '../../../../shared/lib/base64.ts'
import { GrpcCode } from '../../../../shared/temporal/grpc-code.ts'
import { redactMachineDetails } from '../../../../shared/temporal/redact-machine-details.ts'
import { toDate, toTimestamp } from '../../../../shared/temporal/time.ts'
import type { Call } from '../../../model/call.ts'
import { invalidValue } from '../../../model/errors.ts'
import { invalidPageToken } from '../../../model/page-token.ts'
import type {
  DescribedSchedule,
  ListedSchedule,
  ScheduleFilter,
  ScheduleTimesCommand,
} from '../../../model/schedule.ts'
import type { EngineContext } from '../../context.ts'
import { isBusyWorkflow, toServiceError } from '../../errors.ts'
import { toScheduleQuery } from '../../run-query.ts'
import { RpcError } from '../../transport/transport.ts'
import { isCausedByToken, isInternalFailure } from '../changed-token.ts'
import { describeNamespace } from '../namespace-capabilities.ts'
import { markOf, scheduleVersion, toNext, toRecent, toSchedule } from './document.ts'
import { toWhen } from './spec.ts'
import { toScheduleError } from './write.ts'

export async function describeSchedule(
  context: EngineContext,
  scheduleId: string,
  call: Call,
): Promise<DescribedSchedule> {
  try {
    const request = { namespace: context.namespace, scheduleId }
    const described = await onceFree(call, () => context.rpc('describeSchedule', request, call))
    const { action, state } = described.schedule ?? {}
    return {
      version: scheduleVersion(described),
      mark: markOf(described),
      workflowName: action?.startWorkflow?.workflowType?.name ?? '',
      paused: state?.paused === true,
      read: () => toSchedule(context, scheduleId, described),
    }
  } catch (error) {
    throw toScheduleError(error, scheduleId)
  }
}

const MAX_DELAY_MS = 400

/** The first generation of the scheduler is a workflow, which has room for one waiting query. */
function onceFree<T>(call: Call, act: () => Promise<T>): Promise<T> {
  return retryWithBackoff(act, {
    signal: call.signal,
    delayMs(error, retries) {
      const delayMs = Math.min(25 * 2 ** retries, MAX_DELAY_MS) * (0.5 + Math.random())
      const isBusy = error instanceof RpcError && error.code === GrpcCode.RESOURCE_EXHAUSTED && isBusyWorkflow(error)
      if (!isBusy || Date.now() + delayMs >= call.deadlineAt) throw error
      return delayMs
    },
    beforeRetry: async () => {},
  })
}

/** Both ends are included: the engine excludes the first one. */
export async function scheduleTimes(
  context: EngineContext,
  { scheduleId, from, until }: ScheduleTimesCommand,
  call: Call,
): Promise<Date[]> {
  const justBefore = new Date(Date.parse(from) - 1).toISOString()
  const request = {
    namespace: context.namespace,
    scheduleId,
    startTime: toTimestamp(justBefore),
    endTime: toTimestamp(until),
  }
  try {
    const { startTime } = await onceFree(call, () => context.rpc('listScheduleMatchingTimes', request, call))
    return (startTime ?? []).flatMap((time) => toDate(time) ?? [])
  } catch (error) {
    throw toScheduleError(error, scheduleId)
  }
}

export async function listSchedules(
  context: EngineContext,
  filter: ScheduleFilter,
  { size, token }: { size: number; token: string | null },
  call: Call,
): Promise<{ schedules: ListedSchedule[]; nextToken: string | null }> {
  const { rpc, namespace } = context
  const begin = { namespace, query: toScheduleQuery(filter), maximumPageSize: size }
  const request = token === null ? begin : { ...begin, nextPageToken: fromBase64(token) }
  try {
    const { schedules, nextPageToken } = await rpc('listSchedules', request, call, {
      async onLostResponse(error) {
        if (token !== null && isInternalFailure(error)) throw error
        return { retryRequest: request }
      },
    })
    return {
      schedules: (schedules ?? []).map(toListed),
      nextToken: nextPageToken?.length ? toBase64(nextPageToken) : null,
    }
  } catch (error) {
    const again = () => rpc('listSchedules', { ...begin, maximumPageSize: 1 }, call)
    if (token !== null && (await isCausedByToken(error, again))) throw invalidPageToken(error)
    if (error instanceof RpcError && error.code === GrpcCode.INVALID_ARGUMENT)
      throw invalidValue('/query', `was rejected by the workflow engine: ${redactMachineDetails(error.message)}`)
    throw toServiceError(error, { kind: 'read', details: {} })
  }
}

function toListed({ scheduleId, info }: temporal.api.schedule.v1.IScheduleListEntry): ListedSchedule {
  const paused = info?.paused === true
  return {
    scheduleId: scheduleId ?? '',
    workflowName: info?.workflowType?.name ?? '',
    paused,
    note: info?.notes || null,
    when: toWhen(info?.spec),
    next: toNext(info?.futureActionTimes, paused),
    recent: (info?.recentActions ?? []).map(toRecent),
  }
}

/** Whether the engine has schedules in the namespace. */
export async function schedulesSupported(context: EngineContext, call: Call): Promise<boolean> {
  return (await describeNamespace(context, call)).supportsSchedules === true
}
