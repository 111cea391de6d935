/** Which run may receive a request again after its response was lost: docs/decisions/003-our-own-retries.md. */
import type { Call } from '../../../model/call.ts'
import { type ErrorFacts, MAY_BE_DONE, ServiceError } from '../../../model/errors.ts'
import type { ExecutionRef } from '../../../model/execution.ts'
import type { EngineContext } from '../../context.ts'
import type { RpcError } from '../../transport/transport.ts'
import {
  type AtMostOnceRequest,
  type FoundRun,
  findPreviousRunId,
  findRun,
  findStartedRun,
  hasUpdate,
} from './find-run.ts'

/** The latest run of a workflow id, compared with a request whose response was lost. */
export type LatestRun =
  | { kind: 'none' }
  /** The request started `run`, which is the latest run or the first run of its chain. */
  | { kind: 'started by request'; run: FoundRun }
  /** It was the latest run before the first attempt: no other run can have received the request. */
  | { kind: 'older than request'; run: FoundRun }
  /** It may have started after the first attempt: the run before it may have received the request. */
  | { kind: 'maybe newer than request'; run: FoundRun }

/** `sentAfter` is a time before the first attempt, by the engine's clock (epoch milliseconds). */
export function compareWithRequest(latest: FoundRun | null, startedRun: FoundRun | null, sentAfter: number): LatestRun {
  if (latest === null) return { kind: 'none' }
  if (startedRun !== null) return { kind: 'started by request', run: startedRun }
  return { kind: isOlder(latest, sentAfter) ? 'older than request' : 'maybe newer than request', run: latest }
}

/** Whether the run was started before the first attempt. Both are epoch milliseconds of the engine's clock. */
export function isOlder({ startedAt }: Pick<FoundRun, 'startedAt'>, sentAfter: number): boolean {
  // A run with an equal time is older: times are truncated to milliseconds, but `sentAfter` is before the first attempt
  // by at least the time of one response, which takes longer than a millisecond.
  return startedAt !== null && startedAt <= sentAfter
}

/** `sentAt` is the time of the first attempt, by our clock (epoch milliseconds). */
export async function findLatestRun(
  context: EngineContext,
  request: AtMostOnceRequest,
  sentAt: number,
  call: Call,
): Promise<LatestRun> {
  const latest = await findRun(context, request, call)
  const startedRun =
    latest === null || request.requestId === undefined ? null : await findStartedRun(context, latest, request, call)
  return compareWithRequest(latest, startedRun, context.clock.earliest(sentAt))
}

/** The error for a request whose outcome is unknown. It has no `Retry-After`. */
export function unknownOutcomeError(details: ErrorFacts, cause: unknown): ServiceError {
  const message = `The response of the workflow engine was lost, ${MAY_BE_DONE}`
  return new ServiceError('EngineUnavailableError', message, {
    cause,
    details: { ...details, mayHaveTakenEffect: true },
  })
}

/**
 * The attempts at a signal or an update. The engine knows the id of either only within the run that received it, so all
 * attempts after a lost response go to one run.
 */
export interface Attempts {
  /** The run that receives the next attempt: the latest run until one is pinned. */
  ref(): ExecutionRef
  /** Call this after each lost response. Returns the only run that may receive the request again. */
  pinAfterLoss(lost: RpcError, call: Call): Promise<ExecutionRef>
}

/** Call this before the first attempt. An update has an `updateId`, by which its run can be found. */
export function beginAttempts(
  context: EngineContext,
  latest: ExecutionRef,
  details: AtMostOnceRequest['details'],
): Attempts {
  const sentAt = Date.now()
  let ref = latest
  return {
    ref: () => ref,
    async pinAfterLoss(lost, call) {
      if (ref.runId === undefined) ref = { ...ref, runId: await findReceivingRun(context, details, sentAt, lost, call) }
      return ref
    },
  }
}

async function findReceivingRun(
  context: EngineContext,
  details: AtMostOnceRequest['details'],
  sentAt: number,
  lost: RpcError,
  call: Call,
): Promise<string> {
  const { workflowId, updateId } = details
  const latest = await findLatestRun(context, { details }, sentAt, call)
  if (latest.kind === 'none')
    throw new ServiceError('WorkflowNotFoundError', `Workflow ${workflowId} not found`, { details })
  const { runId, startedAt } = latest.run
  if (latest.kind !== 'maybe newer than request') return runId
  const sentAfter = context.clock.earliest(sentAt)
  if (updateId !== undefined && (await hasUpdate(context, { workflowId, runId }, { updateId, sentAfter }, call)))
    return runId
  // The previous run is closed: it returns the outcome of what it has received, and accepts nothing new.
  const previousRunId = await findPreviousRunId(context, { workflowId, runId, startedAt }, call)
  if (previousRunId === null) throw unknownOutcomeError(details, lost)
  return previousRunId
}
