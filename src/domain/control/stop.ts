import { CATALOG_TYPE } from '../../protocol/catalog.ts'
import { isOpen } from '../../protocol/execution.ts'
import type { RunRef } from '../../protocol/run-ref.ts'
import type { Call } from '../call.ts'
import type { Engine } from '../engine.ts'
import { ServiceError } from '../errors.ts'
import type { Description, ExecutionRef } from '../execution.ts'
import type { Stopped } from '../workflows.ts'

export async function stop(engine: Engine, ref: ExecutionRef, reason: string | null, call: Call): Promise<Stopped> {
  return onLatest(ref, async () => {
    const run = await describeOwn(engine, ref, call)
    const { workflowId, runId, status } = run
    const cancelRequested = isOpen(status)
    if (cancelRequested) await engine.cancel(run, { reason, pinned: ref.runId !== undefined }, call)
    return { workflowId, runId, cancelRequested, status }
  })
}

export async function terminate(engine: Engine, ref: ExecutionRef, reason: string | null, call: Call): Promise<RunRef> {
  return onLatest(ref, async () => {
    const { workflowId, runId, status } = await describeOwn(engine, ref, call)
    if (isOpen(status)) await engine.terminate({ workflowId, runId }, reason, call)
    else throw notRunning({ workflowId, runId }, status)
    return { workflowId, runId }
  })
}

/** An unpinned request whose run went on under it looks once more, and acts on the successor. */
async function onLatest<T>(ref: ExecutionRef, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    // Only the engine's refusal has a cause: a run that was closed when we looked has no successor to look for.
    const wentOn =
      error instanceof ServiceError && error.error === 'WorkflowNotRunningError' && error.cause !== undefined
    if (ref.runId !== undefined || !wentOn) throw error
    return act()
  }
}

async function describeOwn(engine: Engine, ref: ExecutionRef, call: Call): Promise<Description> {
  const run = await engine.describe(ref, call)
  if (run.workflowName === CATALOG_TYPE) throw catalogRun(ref)
  return run
}

/** Catalogs are data that workers keep: no client changes them. */
export function catalogRun({ workflowId }: ExecutionRef): ServiceError {
  return new ServiceError('ForbiddenError', `Workflow ${workflowId} is a catalog: only its workers can change it`, {
    details: { workflowId },
  })
}

function notRunning(run: RunRef, workflowStatus: Description['status']): ServiceError {
  return new ServiceError(
    'WorkflowNotRunningError',
    `Workflow ${run.workflowId} is not running; its status is ${workflowStatus}`,
    {
      details: { ...run, workflowStatus },
    },
  )
}
