/** Ids of tasks: the ids of the run, so that every replica can read the task from the engine. */
import { percentEncode } from '../../lib/percent-encode.ts'
import { runIdIssue, workflowIdIssue } from '../../protocol/names.ts'
import type { RunRef } from '../../protocol/run-ref.ts'
import { JsonRpcError, RPC_CODES } from '../rpc-error.ts'

/** Clients repeat it in the header `Mcp-Name`, so it consists of characters that a header may have. */
export function taskIdOf({ workflowId, runId }: RunRef): string {
  return `${percentEncode(workflowId)}/${runId}`
}

/** Throws an `JsonRpcError` for what `taskIdOf` cannot have returned. */
export function parseTaskId(taskId: unknown): RunRef {
  const [encodedId = '', runId = ''] = typeof taskId === 'string' ? taskId.split('/') : []
  const workflowId = decodeOrNull(encodedId)
  if (workflowId === null || workflowIdIssue(workflowId) !== null || runIdIssue(runId) !== null) throw unknownTask()
  const run = { workflowId, runId: runId.toLowerCase() }
  if (taskIdOf(run) !== taskId) throw unknownTask()
  return run
}

/** The error for a task that does not exist, or whose run was deleted. */
export function unknownTask(cause?: unknown): JsonRpcError {
  return new JsonRpcError(RPC_CODES.invalidParams, 'Unknown task: params.taskId does not name a run', { cause })
}

function decodeOrNull(encoded: string): string | null {
  try {
    return decodeURIComponent(encoded)
  } catch {
    // Not valid percent-encoding. `parseTaskId` reports that as an unknown task.
    return null
  }
}
