import type { temporal } from '@temporalio/proto'
import { toSnakeCase } from '../../../shared/temporal/field-mask.ts'
import { toWorkerVersion } from '../../../shared/temporal/worker-version.ts'
import type { RunRef } from '../../../shared/wire/run-ref.ts'
import type { Call } from '../../model/call.ts'
import type { RunOptions, RunOptionsChange } from '../../model/workflow-options.ts'
import { type EngineContext, executionIds, identityOf, toExecution } from '../context.ts'
import { onOpenRun } from './at-most-once/on-open-run.ts'
import { rejectedOption } from './rejected-option.ts'
import { toVersioningOverride } from './start.ts'

type EngineOptions = temporal.api.workflow.v1.IWorkflowExecutionOptions

/** Changes the options in `change` alone. The same change again only records another event. */
export async function setRunOptions(
  context: EngineContext,
  run: RunRef,
  change: RunOptionsChange,
  call: Call,
): Promise<RunOptions> {
  const { versioningOverride: override, priority } = change
  const request = {
    namespace: context.namespace,
    workflowExecution: toExecution(run),
    workflowExecutionOptions: {
      ...(override && { versioningOverride: toVersioningOverride(override) }),
      ...(priority && { priority }),
    },
    // What is in the mask and has no value is removed.
    updateMask: { paths: Object.keys(change).map(toSnakeCase) },
    identity: identityOf(call),
  }
  const { workflowExecutionOptions } = await onOpenRun(
    context,
    run,
    { kind: 'write', details: executionIds(run) },
    call,
    async () => {
      try {
        return await context.rpc('updateWorkflowExecutionOptions', request, call)
      } catch (error) {
        throw rejectedOption(error, { workflowId: run.workflowId, options: change }) ?? error
      }
    },
  )
  return toRunOptions(workflowExecutionOptions ?? {})
}

/** What is set of the options that can be changed. */
export function toRunOptions({ versioningOverride, priority }: EngineOptions): RunOptions {
  const { priorityKey, fairnessKey, fairnessWeight } = priority ?? {}
  const set = {
    ...(priorityKey && { priorityKey }),
    ...(fairnessKey && { fairnessKey }),
    ...(fairnessWeight && { fairnessWeight }),
  }
  return {
    versioningOverride: toOverride(versioningOverride ?? {}),
    priority: Object.keys(set).length === 0 ? null : set,
  }
}

function toOverride({
  autoUpgrade,
  pinned,
  oneTime,
}: temporal.api.workflow.v1.IVersioningOverride): RunOptions['versioningOverride'] {
  if (autoUpgrade) return 'auto-upgrade'
  const [version, once] = [toWorkerVersion(pinned?.version), toWorkerVersion(oneTime?.targetDeploymentVersion)]
  if (version !== null) return { pinned: version }
  return once === null ? null : { oneTime: once }
}
