import type { Closing, Execution } from '../../protocol/execution.ts'
import type { TraceMeta } from '../../protocol/trace/trace-meta.ts'
import type { WorkflowResult } from './execution.ts'
import { outputStoredElsewhere } from './stored-elsewhere.ts'

/**
 * The specification's workflow result of one run.
 * Throws `NotSupportedError` when the output is stored outside the engine.
 */
export function toResult(
  { workflowId, runId, input }: Pick<Execution, 'input' | 'runId' | 'workflowId'>,
  { outcome, trace: traceInEnd }: Closing,
  trace: TraceMeta | null,
): WorkflowResult {
  if (outcome.status === 'completed' && outcome.storedElsewhere !== undefined) {
    const facts = { workflowId, runId, workflowStatus: outcome.status }
    throw outputStoredElsewhere(`The output of workflow ${workflowId}`, outcome.storedElsewhere, facts)
  }
  const error = 'error' in outcome ? outcome.error : null
  return {
    workflowId,
    runId,
    status: outcome.status,
    input,
    output: outcome.status === 'completed' ? outcome.output : null,
    trace: trace ?? traceInEnd ?? null,
    // A failure may have no message, but `error` must not be empty for it.
    error: error && (error.message || error.name),
    errorDetails: error,
  }
}
