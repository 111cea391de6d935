import type { temporal } from '@temporalio/proto'
import type { RunInfo, Status } from '../wire/execution.ts'
import type { RunRef } from '../wire/run-ref.ts'
import type { WorkerVersion } from '../wire/worker-version.ts'
import { toStatus } from './outcome.ts'
import { toDate } from './time.ts'
import { toPinnedVersion } from './worker-version.ts'

/** A run as Temporal describes and lists it, in our words. Its memo is still encoded. */
export interface DescribedRun extends Omit<RunInfo, 'memo'> {
  status: Status
  /** By the engine's clock. */
  startedAt: Date | null
  /** Null while the run is open. */
  completedAt: Date | null
  historyLength: number
  pinnedVersion: WorkerVersion | null
  memo: temporal.api.common.v1.IMemo
}

export function describeRun(info: temporal.api.workflow.v1.IWorkflowExecutionInfo | null | undefined): DescribedRun {
  const { execution, firstRunId, type, taskQueue, status, parentExecution } = info ?? {}
  const { memo, startTime, closeTime, historyLength, versioningInfo } = info ?? {}
  const runId = execution?.runId ?? ''
  return {
    workflowId: execution?.workflowId ?? '',
    runId,
    firstRunId: firstRunId || runId,
    workflowName: type?.name ?? '',
    catalog: taskQueue ?? '',
    status: toStatus(status),
    parent: toRunRef(parentExecution),
    startedAt: toDate(startTime),
    completedAt: toDate(closeTime),
    historyLength: Number(historyLength ?? 0),
    pinnedVersion: toPinnedVersion(versioningInfo),
    memo: memo ?? {},
  }
}

/** Null unless both ids are set. */
export function toRunRef(execution: temporal.api.common.v1.IWorkflowExecution | null | undefined): RunRef | null {
  return execution?.workflowId && execution.runId ? { workflowId: execution.workflowId, runId: execution.runId } : null
}
