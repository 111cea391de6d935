/** What the reader of a stream must know about its run, and about the run that continues it. */

import { describeRun } from '../../../../shared/temporal/describe-run.ts'
import { WorkflowTaskFailedCause } from '../../../../shared/temporal/enums.ts'
import type { TemporalEvent } from '../../../../shared/temporal/outcome.ts'
import { isOpen, type Status } from '../../../../shared/wire/execution.ts'
import type { RunRef } from '../../../../shared/wire/run-ref.ts'
import { findStreamState } from '../../../../shared/wire/stream.ts'
import type { Call } from '../../../model/call.ts'
import { ServiceError } from '../../../model/errors.ts'
import { describeProblem, type Problem } from '../../../model/problem.ts'
import { type EngineContext, executionIds, toExecution } from '../../context.ts'
import { notReadyMessage } from '../../errors.ts'
import { describe } from '../describe.ts'
import { readEnd } from '../history-pages.ts'
import { recordedInput } from '../read.ts'

/** The state of a run, for the readers of its stream. */
export interface RunState {
  status: Status
  completedAt: Date | null
  historyLength: number
  historySizeBytes: number
  /** Why the run cannot answer at the moment; null if nothing is known to prevent it. */
  obstacle: ServiceError | null
  /** Whether the workflow task fails because what it sends to the engine is too large: it will fail again. */
  failsAsTooLarge: boolean
}

export async function inspect(context: EngineContext, run: RunRef, call: Call): Promise<RunState> {
  const { rpc, namespace } = context
  const { workflowExecutionInfo, pendingWorkflowTask } = await rpc(
    'describeWorkflowExecution',
    { namespace, execution: toExecution(run) },
    call,
  )
  const { status, completedAt, historyLength } = describeRun(workflowExecutionInfo)
  const isFailing = isOpen(status) && (pendingWorkflowTask?.attempt ?? 1) > 1
  return {
    status,
    completedAt,
    historyLength,
    historySizeBytes: Number(workflowExecutionInfo?.historySizeBytes ?? 0),
    obstacle: isFailing ? await failing(context, run, call) : status === 'paused' ? notReady(run, { status }) : null,
    failsAsTooLarge: isFailing && (await isTooLarge(context, run, call)),
  }
}

async function failing(context: EngineContext, run: RunRef, call: Call): Promise<ServiceError | null> {
  const { failingTask } = await describe(context, run, call)
  const problem = await failingTask?.problem(call)
  return problem === null ? null : notReady(run, { ...(problem && { problem }) })
}

const TOO_LARGE: ReadonlySet<unknown> = new Set([
  WorkflowTaskFailedCause.GRPC_MESSAGE_TOO_LARGE,
  WorkflowTaskFailedCause.PAYLOADS_TOO_LARGE,
  WorkflowTaskFailedCause.REQUEST_TOO_LARGE,
])

async function isTooLarge(context: EngineContext, run: RunRef, call: Call): Promise<boolean> {
  // The history has the failure of the first attempt, which signals may follow.
  const isFailure = (event: TemporalEvent) => event.workflowTaskFailedEventAttributes != null
  const failed = (await readEnd(context, run, call, isFailure)).findLast(isFailure)
  return TOO_LARGE.has(failed?.workflowTaskFailedEventAttributes?.cause)
}

function notReady(run: RunRef, { status, problem }: { status?: Status; problem?: Problem }): ServiceError {
  const why = problem === undefined ? `its status is ${status ?? 'unknown'}` : describeProblem(problem)
  return new ServiceError('WorkflowNotReadyError', `${notReadyMessage(run.workflowId)}: ${why}`, {
    details: { ...executionIds(run), ...(status && { workflowStatus: status }), ...(problem && { problem }) },
  })
}

/**
 * The offset up to which the next run of a chain has the items of the previous one; -1 if it begins its own stream.
 * A run that continues a stream has the state of the stream in its input. A retry and a cron run have the input of the
 * first run: a state in it is older, and ends before the last item of the previous run. If no state is found, the run
 * counts as one that begins its own stream: an item that is read twice is better than one that is lost.
 */
export async function carriedUpTo(context: EngineContext, next: RunRef, call: Call): Promise<number> {
  const { args } = await recordedInput(context, next, call)
  const state = findStreamState(args)
  return state === null ? -1 : state.base_offset + state.log.length
}
