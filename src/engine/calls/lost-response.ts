/** Which run a request may be sent to again once its answer was lost: docs/decisions/003-our-own-retries.md. */
import { atMost, type Call } from '../../domain/call.ts'
import { TIMEOUT_MS } from '../../domain/deadlines.ts'
import { type ErrorFacts, ServiceError } from '../../domain/errors.ts'
import type { ExecutionRef } from '../../domain/execution.ts'
import { type EngineContext, toExecution } from '../context.ts'
import { MAY_BE_DONE, toServiceError } from '../errors.ts'
import { withPossibleEffect } from '../rpc.ts'
import { RpcError } from '../transport/transport.ts'
import { type AtMostOnceRequest, type FoundRun, findRun, findStartedRun } from './find-started-run.ts'

/** What the latest run of its workflow id tells about a request whose answer was lost. */
export type Finding =
  /** There is no run of that id. */
  | { kind: 'no run' }
  /** The request has started this run; the latest one is this, or continues its chain. */
  | { kind: 'ours'; run: FoundRun }
  /** The latest run was so before the first attempt: no other run can have been reached. */
  | { kind: 'same run'; run: FoundRun }
  /** The latest run may be younger than the first attempt, which may have reached the run before it. */
  | { kind: 'later run'; run: FoundRun }

/** `sentAfter`: a time that the engine's clock had passed before the first attempt. */
export function toFinding(latest: FoundRun | null, own: FoundRun | null, sentAfter: number): Finding {
  if (latest === null) return { kind: 'no run' }
  if (own !== null) return { kind: 'ours', run: own }
  // An answer takes longer than the millisecond to which times are cut: what is as old is older.
  const isSame = latest.startedAt !== null && latest.startedAt <= sentAfter
  return { kind: isSame ? 'same run' : 'later run', run: latest }
}

/** `sentAt`: the moment before the first attempt, by our clock (epoch ms). */
export async function investigate(
  context: EngineContext,
  asked: AtMostOnceRequest,
  sentAt: number,
  call: Call,
): Promise<Finding> {
  const latest = await findRun(context, asked, call)
  const own =
    latest === null || asked.requestId === undefined ? null : await findStartedRun(context, latest, asked, call)
  return toFinding(latest, own, context.clock.floor(sentAt))
}

/** Whether the request was carried out cannot be known: it is not sent again, and there is no `Retry-After`. */
export function unknownOutcomeError(facts: ErrorFacts, cause: unknown): ServiceError {
  return new ServiceError('EngineUnavailableError', `The workflow engine's answer was lost, ${MAY_BE_DONE}`, {
    cause,
    details: facts,
  })
}

/** Attempts at a signal or an update, whose id the engine knows only within the run that took it. */
export interface Attempts {
  /** The run that they go to: unpinned until an answer was lost. */
  ref: ExecutionRef
  /** For `onLostResponse`: the same request, to the one run that may have taken it. */
  repeat<R extends object>(request: R, call: Call): (lost: RpcError) => Promise<{ request: R }>
}

/** To be made before the first attempt. */
export function beginAttempts(context: EngineContext, ref: ExecutionRef, facts: AtMostOnceRequest['facts']): Attempts {
  const sentAt = Date.now()
  const attempts: Attempts = {
    ref,
    repeat: (request, call) => async (lost) => {
      if (attempts.ref.runId === undefined)
        attempts.ref = { ...ref, runId: await runToRepeatTo(context, facts, sentAt, lost, call) }
      return { request: { ...request, workflowExecution: toExecution(attempts.ref) } }
    },
  }
  return attempts
}

async function runToRepeatTo(
  context: EngineContext,
  facts: AtMostOnceRequest['facts'],
  sentAt: number,
  lost: RpcError,
  call: Call,
): Promise<string> {
  const finding = await investigate(context, { facts }, sentAt, call)
  if (finding.kind === 'same run') return finding.run.runId
  if (finding.kind === 'no run')
    throw new ServiceError('WorkflowNotFoundError', `Workflow ${facts.workflowId} not found`, { details: facts })
  // The run before is closed: it answers what it has taken, and takes nothing more.
  const before = await runBefore(context, facts, finding.run.runId, call)
  if (before === null) throw unknownOutcomeError(facts, lost)
  return before
}

/** The run that went on as this one; null for the first of a chain. */
async function runBefore(
  { rpc, namespace }: EngineContext,
  facts: AtMostOnceRequest['facts'],
  runId: string,
  call: Call,
): Promise<string | null> {
  const request = { namespace, execution: toExecution({ workflowId: facts.workflowId, runId }), maximumPageSize: 1 }
  try {
    const { history } = await rpc('getWorkflowExecutionHistory', request, atMost(call, TIMEOUT_MS.describe))
    return history?.events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId || null
  } catch (error) {
    throw toServiceError(error instanceof RpcError ? withPossibleEffect(error) : error, { kind: 'write', facts })
  }
}
