/** Reads standalone activities. */
import type { temporal } from '@temporalio/proto'
import { fromBase64, toBase64 } from '../../../../shared/lib/base64.ts'
import { isObject } from '../../../../shared/lib/json.ts'
import { ActivityExecutionStatus, PendingActivityState } from '../../../../shared/temporal/enums.ts'
import { decodeFailure, type Failure, toErrorCause, toErrorDetails } from '../../../../shared/temporal/failure.ts'
import { GrpcCode } from '../../../../shared/temporal/grpc-code.ts'
import { toStatusWord } from '../../../../shared/temporal/outcome.ts'
import { fromPayload } from '../../../../shared/temporal/payload.ts'
import { redactMachineDetails } from '../../../../shared/temporal/redact-machine-details.ts'
import { userSearchAttributes } from '../../../../shared/temporal/search-attributes.ts'
import { toDate } from '../../../../shared/temporal/time.ts'
import { quoteLiteral } from '../../../../shared/temporal/visibility-query.ts'
import { type Closing, toSingleValue } from '../../../../shared/wire/execution.ts'
import { IDEMPOTENCY_MEMO } from '../../../../shared/wire/memo-keys.ts'
import type { RunRef } from '../../../../shared/wire/run-ref.ts'
import { backgroundCall, type Call } from '../../../model/call.ts'
import { TIMEOUT_MS } from '../../../model/deadlines.ts'
import { invalidValue } from '../../../model/errors.ts'
import { readStartKey } from '../../../model/keyed-id.ts'
import { invalidPageToken } from '../../../model/page-token.ts'
import {
  ACTIVITY_STATUSES,
  type ActivityFilter,
  type ActivityStatus,
  activityIdInUse,
  activityNotFound,
  type DescribedActivity,
  type ListedActivity,
  type ReadActivity,
  type StandaloneRef,
} from '../../../model/standalone-activity.ts'
import type { EngineContext } from '../../context.ts'
import { detailOf, isGoneOrClosed, toServiceError } from '../../errors.ts'
import { toActivityQuery } from '../../run-query.ts'
import { RpcError } from '../../transport/transport.ts'
import type { Followed } from '../../waits/follow-run.ts'
import { isCausedByToken, isInternalFailure } from '../changed-token.ts'
import { failureMarkOf } from '../failure-mark.ts'
import { namespaceCapabilities } from '../namespace-capabilities.ts'

type Described = temporal.api.workflowservice.v1.IDescribeActivityExecutionResponse
type Outcome = temporal.api.activity.v1.IActivityExecutionOutcome

/** A Temporal header: the engine keeps no memo of an activity. */
export const KEY_HEADER = 'portico-key'

const STATUS = new Map<unknown, ActivityStatus>([
  [ActivityExecutionStatus.COMPLETED, 'completed'],
  [ActivityExecutionStatus.FAILED, 'failed'],
  [ActivityExecutionStatus.CANCELED, 'canceled'],
  [ActivityExecutionStatus.TERMINATED, 'terminated'],
  [ActivityExecutionStatus.TIMED_OUT, 'timed_out'],
])

interface Parts {
  includeInput?: true
  includeOutcome?: true
}

/** `requestId`: of the request that has started the run; null if another client has. */
type Read = ReadActivity & { requestId: string | null }

export async function describeActivity(
  context: EngineContext,
  ref: StandaloneRef,
  call: Call,
): Promise<DescribedActivity> {
  return readRun(context, ref, {}, call)
}

/** The same with the input and the outcome, which may be megabytes. */
export async function readActivity(context: EngineContext, ref: StandaloneRef, call: Call): Promise<ReadActivity> {
  return readRun(context, ref, { includeInput: true, includeOutcome: true }, call)
}

async function readRun(context: EngineContext, ref: StandaloneRef, parts: Parts, call: Call): Promise<Read> {
  try {
    return await lookUp(context, ref, call, parts)
  } catch (error) {
    throw toActivityError(error, ref)
  }
}

/** The same for a lookup after a lost response: an error of the engine is not translated. Null if there is no run. */
export async function findActivity(context: EngineContext, ref: StandaloneRef, call: Call): Promise<Read | null> {
  try {
    return await lookUp(context, ref, call, { includeOutcome: true })
  } catch (error) {
    if (isGoneOrClosed(error)) return null
    throw error
  }
}

async function lookUp(context: EngineContext, ref: StandaloneRef, call: Call, parts: Parts): Promise<Read> {
  const { rpc, namespace, clock } = context
  const more = { includeHeartbeatDetails: true, includeLastFailure: true, ...parts }
  const described = await rpc('describeActivityExecution', { namespace, ...ref, ...more }, call)
  const run = await toActivity(context, ref.activityId, described)
  clock.observe((run.completedAt ?? run.startedAt)?.getTime() ?? null)
  return run
}

async function toActivity({ payloads }: EngineContext, activityId: string, described: Described): Promise<Read> {
  const { info, input, outcome } = described
  const { lastFailure, heartbeatDetails, lastWorkerIdentity, header, runState } = info ?? {}
  const { SCHEDULED, PAUSED, CANCEL_REQUESTED } = PendingActivityState
  const run = toListed(info ?? {})
  const isOpen = run.status === 'running'
  const fields = isObject(header?.fields) ? header.fields : {}
  const key = fromPayload(fields[KEY_HEADER] ?? {})
  const failures = [lastFailure, outcome?.failure]
  return {
    ...run,
    activityId,
    attempt: info?.attempt ?? 1,
    nextAttemptAt: isOpen && runState === SCHEDULED ? toDate(info?.nextAttemptScheduleTime) : null,
    cancelRequested: run.status === 'canceled' || runState === CANCEL_REQUESTED || Boolean(info?.canceledReason),
    isStarted: isOpen && runState !== SCHEDULED && runState !== PAUSED,
    searchAttributes: userSearchAttributes(info?.searchAttributes),
    startKey: readStartKey(new Map([[IDEMPOTENCY_MEMO, key]])),
    requestId: isObject(key) && typeof key.requestId === 'string' ? key.requestId : null,
    isMarked: (mark) =>
      lastWorkerIdentity?.endsWith(` ${mark}`) === true || failures.some((failure) => failureMarkOf(failure) === mark),
    async lastFailure() {
      if (!lastFailure) return null
      const { name, message } = toErrorCause(withoutNeighbors(await decodeFailure(lastFailure, payloads.redactable)))
      return { name, message: redactMachineDetails(message) }
    },
    async progress() {
      if (!heartbeatDetails?.payloads?.length) return null
      const values = await payloads.redactable.decode(heartbeatDetails.payloads)
      return { details: toSingleValue(values), heartbeatAt: toDate(info?.lastHeartbeatTime) }
    },
    input: toSingleValue(await payloads.decode(input?.payloads ?? [])),
    closing: isOpen || !outcome ? null : await toClosing(outcome, run.status, described, payloads),
  }
}

async function toClosing(
  { result, failure }: Outcome,
  status: ActivityStatus,
  { info }: Described,
  payloads: EngineContext['payloads'],
): Promise<Closing> {
  if (status === 'running' || status === 'completed') {
    const { value: output, ...elsewhere } = await payloads.decodeOutput(result?.payloads)
    return { outcome: { status: 'completed', output, ...elsewhere }, nextRunId: null }
  }
  const details = toErrorDetails(withoutNeighbors(await decodeFailure(failure ?? {}, payloads)))
  const reason = status === 'canceled' && info?.canceledReason ? `: ${info.canceledReason}` : ''
  const error = { ...details, message: `${details.message}${reason}`, activityId: info?.activityId ?? null }
  return { outcome: { status, error }, nextRunId: null }
}

// What workers of the SDKs say of an activity that they do not have.
const NEIGHBORS =
  /^(.{0,200}?(?:is not registered|unable to find activity ?type).*?)[,.;]? *(?:available activities|supported types|known types)\b.*$/is

/** Without the names of all activities of the worker, which the caller may not know. */
function withoutNeighbors<F extends Failure>(failure: F): F {
  const { message, cause } = failure
  return {
    ...failure,
    message: message?.replace(NEIGHBORS, '$1') ?? null,
    ...(cause && { cause: withoutNeighbors(cause) }),
  }
}

/** How a wait follows an activity: `workflowId` is the id of the activity. */
export const ACTIVITY_RUNS: Followed = {
  async poll(context, { workflowId: activityId, runId }, call) {
    const request = { namespace: context.namespace, activityId, runId }
    const { outcome } = await context.rpc('pollActivityExecution', request, call)
    if (outcome?.result) return toClosing(outcome, 'completed', {}, context.payloads)
    // A failure alone does not say the status.
    return outcome ? (await readActivity(context, { activityId, runId }, call)).closing : null
  },
  async read(context, { workflowId: activityId, runId }, call) {
    return (await readActivity(context, { activityId, runId }, call)).closing
  },
  async findEnded({ rpc, namespace }, runs: readonly RunRef[]) {
    const runIds = runs.map(({ runId }) => quoteLiteral(runId)).join(',')
    const request = { namespace, query: `${ENDED} AND RunId IN (${runIds})`, pageSize: runs.length }
    const { executions } = await rpc('listActivityExecutions', request, backgroundCall('waits', TIMEOUT_MS.describe))
    return new Set((executions ?? []).map(({ runId }) => runId ?? ''))
  },
  toError: (error, { workflowId: activityId, runId }) => toActivityError(error, { activityId, runId }),
}

const ENDED_WORDS = ACTIVITY_STATUSES.filter((status) => status !== 'running').map((status) =>
  quoteLiteral(toStatusWord(status)),
)
const ENDED = `ExecutionStatus IN (${ENDED_WORDS.join(',')})`

export async function listActivities(
  { rpc, namespace }: EngineContext,
  filter: ActivityFilter,
  { size, token }: { size: number; token: string | null },
  call: Call,
): Promise<{ activities: ListedActivity[]; nextToken: string | null }> {
  const begin = { namespace, query: toActivityQuery(filter), pageSize: size }
  const request = token === null ? begin : { ...begin, nextPageToken: fromBase64(token) }
  try {
    const { executions, nextPageToken } = await rpc('listActivityExecutions', request, call, {
      async onLostResponse(error) {
        if (token !== null && isInternalFailure(error)) throw error
        return { retryRequest: request }
      },
    })
    return {
      activities: (executions ?? []).map(toListed),
      nextToken: nextPageToken?.length ? toBase64(nextPageToken) : null,
    }
  } catch (error) {
    const again = () => rpc('listActivityExecutions', { ...begin, pageSize: 1 }, call)
    if (token !== null && (await isCausedByToken(error, again))) throw invalidPageToken(error)
    if (error instanceof RpcError && error.code === GrpcCode.INVALID_ARGUMENT)
      throw invalidValue('/query', `was rejected by the workflow engine: ${redactMachineDetails(error.message)}`)
    throw toServiceError(error, { kind: 'read', details: {} })
  }
}

function toListed(
  info: temporal.api.activity.v1.IActivityExecutionInfo | temporal.api.activity.v1.IActivityExecutionListInfo,
): ListedActivity {
  return {
    activityId: info.activityId ?? '',
    runId: info.runId ?? '',
    activityName: info.activityType?.name ?? '',
    catalog: info.taskQueue ?? '',
    // An unknown one, of a newer engine, counts as running.
    status: STATUS.get(info.status) ?? 'running',
    startedAt: toDate(info.scheduleTime),
    completedAt: toDate(info.closeTime),
  }
}

/** Whether the engine has standalone activities in the namespace. */
export async function activitiesSupported(context: EngineContext, call: Call): Promise<boolean> {
  return (await namespaceCapabilities(context, call)).standaloneActivities === true
}

export function toActivityError(error: unknown, ref: StandaloneRef, kind: 'read' | 'write' = 'read'): unknown {
  if (isGoneOrClosed(error)) return activityNotFound(ref, error)
  if (error instanceof RpcError && error.code === GrpcCode.ALREADY_EXISTS) {
    const { runId } = detailOf(error, 'ActivityExecutionAlreadyStartedFailure') ?? {}
    return activityIdInUse({ ...ref, ...(runId && { runId }) }, error)
  }
  return toServiceError(error, { kind, details: { ...ref } })
}
