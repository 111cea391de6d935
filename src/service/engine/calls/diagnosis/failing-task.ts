import type { temporal } from '@temporalio/proto'
import { failuresOfLastTask, reportedFailure, toTaskError } from '../../../../shared/temporal/failed-task.ts'
import type { TemporalEvent } from '../../../../shared/temporal/outcome.ts'
import { toDate } from '../../../../shared/temporal/time.ts'
import type { RunRef } from '../../../../shared/wire/run-ref.ts'
import { atMost, type Call } from '../../../model/call.ts'
import { TIMEOUT_MS } from '../../../model/deadlines.ts'
import type { FailingTask } from '../../../model/execution.ts'
import type { Problem } from '../../../model/problem.ts'
import type { EngineContext } from '../../context.ts'
import { readLast } from '../history-pages.ts'

// Usually enough: of a failing task the engine records the first failure, and one more after each signal.
const PAGE_SIZE = 40

/** The pending workflow task, if it has failed before. */
export function toFailingTask(
  context: EngineContext,
  run: RunRef,
  pending: temporal.api.workflow.v1.IPendingWorkflowTaskInfo | null | undefined,
): FailingTask | null {
  const attempt = pending?.attempt ?? 1
  return attempt < 2
    ? null
    : {
        attempt,
        problem(call) {
          const bounded = atMost(call, TIMEOUT_MS.failingTask)
          const readEvents = async () => (await readLast(context, run, bounded, { maximumPageSize: PAGE_SIZE })).events
          return toTaskProblem(context, attempt, bounded, readEvents)
        },
      }
}

/**
 * Finds the failure in the last events of the history, the only place that has it; null if the engine has closed the
 * task for a reason of its own. The log gets the failure with its causes. Never rejects.
 */
export async function toTaskProblem(
  context: EngineContext,
  attempt: number,
  call: Call,
  readEvents: () => Promise<readonly TemporalEvent[]>,
): Promise<Problem | null> {
  const known = { kind: 'workflow_task_failing', attempt } as const
  try {
    const failed = failuresOfLastTask(await readEvents())
    if (failed === null) return null
    const taskFailure = await toTaskError(reportedFailure(failed), context.payloads)
    call.note({ taskFailure })
    return { ...known, since: toDate(failed.at(-1)?.eventTime), message: taskFailure.message }
  } catch (error) {
    // The problem is useful without its reason.
    call.note({ reasonUnread: error })
    return { ...known, since: null, message: 'the failure could not be read from the workflow history' }
  }
}
