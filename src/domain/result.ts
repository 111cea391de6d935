import type { Closing, Execution, TraceMeta, WorkflowResult } from './execution.ts'

/** The specification's workflow result: its eight keys all speak of one run. */
export function toResult(
  { workflowId, runId, input }: Pick<Execution, 'input' | 'runId' | 'workflowId'>,
  { outcome, trace: traceInEnd }: Closing,
  trace: TraceMeta | null,
): WorkflowResult {
  const error = 'error' in outcome ? outcome.error : null
  return {
    workflowId,
    runId,
    status: outcome.status,
    input,
    output: outcome.status === 'completed' ? outcome.output : null,
    trace: trace ?? traceInEnd ?? null,
    error: error?.message ?? null,
    errorDetails: error,
  }
}
