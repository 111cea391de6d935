import type { WorkerOptions } from '@temporalio/worker'
import type { TuningConfig } from '../config/worker.ts'

/** The specification's five variables as the SDK takes them; what is unset is left out, so that the SDK's own default holds. */
export function toTuningOptions(tuning: TuningConfig): Partial<WorkerOptions> {
  const { activityExecutions, workflowTaskExecutions, cachedWorkflows, activityPolls, workflowTaskPolls } = tuning
  return {
    ...(activityExecutions !== null && { maxConcurrentActivityTaskExecutions: activityExecutions }),
    ...(workflowTaskExecutions !== null && { maxConcurrentWorkflowTaskExecutions: workflowTaskExecutions }),
    ...(cachedWorkflows !== null && { maxCachedWorkflows: cachedWorkflows }),
    // The SDK (1.24) declares maxConcurrent…TaskPolls and never reads them: what counts is the pollers' behaviour.
    ...(activityPolls !== null && { activityTaskPollerBehavior: { type: 'simple-maximum', maximum: activityPolls } }),
    ...(workflowTaskPolls !== null && {
      workflowTaskPollerBehavior: { type: 'simple-maximum', maximum: workflowTaskPolls },
    }),
  }
}
