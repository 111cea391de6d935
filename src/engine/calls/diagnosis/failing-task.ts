import type { temporal } from '@temporalio/proto'
import { atMost, type Call } from '../../../domain/model/call.ts'
import { TIMEOUT_MS } from '../../../domain/model/deadlines.ts'
import type { FailingTask } from '../../../domain/model/execution.ts'
import type { Problem } from '../../../domain/model/problem.ts'
import type { RunRef } from '../../../protocol/run-ref.ts'
import { toTaskError, workflowTaskFailure } from '../../../temporal/failed-task.ts'
import type { HistoryEvent } from '../../../temporal/outcome.ts'
import { toDate } from '../../../temporal/time.ts'
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
 * Finds the failure in the last events of the history, the only place that has it. The log gets the failure with its
 * causes. Never rejects.
 */
export async function toTaskProblem(
  context: EngineContext,
  attempt: number,
  call: Call,
  readEvents: () => Promise<readonly HistoryEvent[]>,
): Promise<Problem> {
  const known = { kind: 'workflow_task_failing', attempt } as const
  try {
    const failed = failuresOfLastTask(await readEvents())
    // SDKs report only the first failure; later attempts end with a timeout, which does not say what the failure is.
    const latest = failed.find((event) => event.workflowTaskFailedEventAttributes) ?? failed[0]
    const taskFailure = await toTaskError((latest && workflowTaskFailure(latest)) ?? {}, context.payloads)
    call.note({ taskFailure })
    return { ...known, since: toDate(failed.at(-1)?.eventTime), message: taskFailure.message }
  } catch (error) {
    // The problem is useful without its reason.
    call.note({ reasonUnread: error })
    return { ...known, since: null, message: 'the failure could not be read from the workflow history' }
  }
}

/** `events` and the result start with the latest event. */
function failuresOfLastTask(events: readonly HistoryEvent[]): HistoryEvent[] {
  const completedAt = events.findIndex((event) => event.workflowTaskCompletedEventAttributes)
  return events
    .slice(0, completedAt === -1 ? events.length : completedAt)
    .filter((event) => workflowTaskFailure(event) !== null)
}
