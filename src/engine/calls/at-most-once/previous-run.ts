import { atMost, type Call } from '../../../domain/model/call.ts'
import { TIMEOUT_MS } from '../../../domain/model/deadlines.ts'
import type { RunRef } from '../../../protocol/run-ref.ts'
import { quoteLiteral } from '../../../temporal/visibility-query.ts'
import { type EngineContext, toExecution } from '../../context.ts'
import { toLookupError } from './find-run.ts'

/**
 * The run before the latest one: the run that continued as it or, if that is the first run of its chain, the latest run
 * of an earlier use of the workflow id. It is closed. Null if it does not exist.
 */
export async function findPreviousRunId(context: EngineContext, latest: RunRef, call: Call): Promise<string | null> {
  const bounded = atMost(call, TIMEOUT_MS.describe)
  try {
    return (await continuedRunId(context, latest, bounded)) ?? (await earlierRunId(context, latest, bounded))
  } catch (error) {
    throw toLookupError(error, { workflowId: latest.workflowId })
  }
}

async function continuedRunId({ rpc, namespace }: EngineContext, run: RunRef, call: Call): Promise<string | null> {
  const request = { namespace, execution: toExecution(run), maximumPageSize: 1 }
  const { history } = await rpc('getWorkflowExecutionHistory', request, call)
  return history?.events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId || null
}

/** From the index, which may not know a run yet that has just started. */
async function earlierRunId(
  { rpc, namespace }: EngineContext,
  { workflowId, runId }: RunRef,
  call: Call,
): Promise<string | null> {
  // The latest first. One of the two can be the latest run itself.
  const request = { namespace, query: `WorkflowId = ${quoteLiteral(workflowId)}`, pageSize: 2 }
  const { executions } = await rpc('listWorkflowExecutions', request, call)
  const runIds = (executions ?? []).map(({ execution }) => execution?.runId)
  return runIds.find((listed) => listed && listed !== runId) ?? null
}
