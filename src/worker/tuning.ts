import type { WorkerOptions } from '@temporalio/worker'
import type { TuningConfig } from '../config/worker.ts'

/** The five tuning variables as options of the SDK. Unset variables are omitted, so the SDK's defaults apply. */
export function toTuningOptions(tuning: TuningConfig): Partial<WorkerOptions> {
  const { activityExecutions, workflowTaskExecutions, cachedWorkflows, activityPolls, workflowTaskPolls } = tuning
  return {
    ...(activityExecutions !== null && { maxConcurrentActivityTaskExecutions: activityExecutions }),
    ...(workflowTaskExecutions !== null && { maxConcurrentWorkflowTaskExecutions: workflowTaskExecutions }),
    ...(cachedWorkflows !== null && { maxCachedWorkflows: cachedWorkflows }),
    // The SDK (1.24) declares maxConcurrent…TaskPolls but ignores them: only the poller behavior has an effect.
    ...(activityPolls !== null && { activityTaskPollerBehavior: { type: 'simple-maximum', maximum: activityPolls } }),
    ...(workflowTaskPolls !== null && {
      workflowTaskPollerBehavior: { type: 'simple-maximum', maximum: workflowTaskPolls },
    }),
  }
}
