import type { temporal } from '@temporalio/proto'
import type { Call } from '../../domain/call.ts'
import type { Description, ExecutionRef, PendingStep } from '../../domain/execution.ts'
import type { WorkerVersion } from '../../protocol/worker-version.ts'
import { VersioningBehavior } from '../../temporal/enums.ts'
import { decodeFailure, toErrorCause } from '../../temporal/failure.ts'
import { decodeMemo, toRunRef } from '../../temporal/started-event.ts'
import { toStatus } from '../../temporal/status.ts'
import { toDate, toEpochMs } from '../../temporal/time.ts'
import { type EngineContext, executionIds, toExecution } from '../context.ts'
import { toServiceError } from '../errors.ts'
import type { Payloads } from '../payloads.ts'
import { toFailingTask } from './failing-task.ts'

export async function describe(context: EngineContext, ref: ExecutionRef, call: Call): Promise<Description> {
  const { rpc, namespace, payloads, clock } = context
  try {
    const { workflowExecutionInfo, pendingActivities, pendingWorkflowTask } = await rpc(
      'describeWorkflowExecution',
      { namespace, execution: toExecution(ref) },
      call,
    )
    const {
      execution,
      firstRunId,
      type,
      taskQueue,
      status,
      parentExecution,
      memo,
      startTime,
      closeTime,
      historyLength,
      versioningInfo,
    } = workflowExecutionInfo ?? {}
    const runId = execution?.runId ?? ''
    const failingTask = toFailingTask(context, { workflowId: ref.workflowId, runId }, pendingWorkflowTask)
    clock.saw(toEpochMs(closeTime) ?? toEpochMs(startTime))
    return {
      workflowId: ref.workflowId,
      runId,
      firstRunId: firstRunId || runId,
      workflowName: type?.name ?? '',
      catalog: taskQueue ?? '',
      status: toStatus(status),
      parent: toRunRef(parentExecution),
      memo: await decodeMemo(type?.name ?? '', new Map(Object.entries(memo?.fields ?? {})), payloads),
      startedAt: toDate(startTime),
      completedAt: toDate(closeTime),
      historyLength: Number(historyLength ?? 0),
      pinnedVersion: pinnedVersion(versioningInfo),
      pendingSteps: () => Promise.all((pendingActivities ?? []).map((activity) => toPendingStep(activity, payloads))),
      ...(failingTask && { failingTask }),
    }
  } catch (error) {
    throw toServiceError(error, { kind: 'read', facts: executionIds(ref) })
  }
}

function pinnedVersion(
  info: temporal.api.workflow.v1.IWorkflowExecutionVersioningInfo | null | undefined,
): WorkerVersion | null {
  const override = info?.versioningOverride
  if (override ? override.autoUpgrade : info?.behavior !== VersioningBehavior.PINNED) return null
  const { deploymentName, buildId } =
    override?.pinned?.version ?? override?.oneTime?.targetDeploymentVersion ?? info?.deploymentVersion ?? {}
  return { deploymentName: deploymentName ?? '', buildId: buildId ?? '' }
}

async function toPendingStep(
  { activityId, attempt, lastFailure }: temporal.api.workflow.v1.IPendingActivityInfo,
  payloads: Payloads,
): Promise<PendingStep> {
  return {
    activityId: activityId ?? '',
    attempts: attempt ?? 1,
    lastFailure: lastFailure ? toErrorCause(await decodeFailure(lastFailure, payloads)) : null,
  }
}
