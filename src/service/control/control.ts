/** Stops, terminates or resets a run, or changes its options. */
import { isOpen, type Status } from '../../shared/wire/execution.ts'
import type { RunRef } from '../../shared/wire/run-ref.ts'
import type { Call } from '../model/call.ts'
import type { ControlCommand, ResetCommand, ResetRun, SetOptionsCommand, Stopped } from '../model/commands.ts'
import { hasErrorName, ServiceError } from '../model/errors.ts'
import type { Description, ExecutionRef } from '../model/execution.ts'
import type { RunOptions } from '../model/workflow-options.ts'
import type { Ports } from '../ports.ts'
import { rejectCatalog } from './catalog-guard.ts'

/** The maximum number of attempts, if the workflow continues as a new run during each of them. */
const MAX_ATTEMPTS = 3

export async function stop(
  ports: Pick<Ports, 'engine'>,
  { ref, reason }: ControlCommand,
  call: Call,
): Promise<Stopped> {
  return onLatestRun(ports, ref, call, async (run) => {
    const { workflowId, runId, status } = run
    const cancelRequested = isOpen(status)
    if (cancelRequested) await ports.engine.cancel(run, { reason, pinned: ref.runId !== undefined }, call)
    return { workflowId, runId, cancelRequested, status }
  })
}

export async function terminate(
  ports: Pick<Ports, 'engine'>,
  { ref, reason }: ControlCommand,
  call: Call,
): Promise<RunRef> {
  return onLatestRun(ports, ref, call, async (run) => {
    if (!isOpen(run.status)) throw notRunning(run)
    const { workflowId, runId } = run
    await ports.engine.terminate({ workflowId, runId }, reason, call)
    return { workflowId, runId }
  })
}

export async function setOptions(
  ports: Pick<Ports, 'engine'>,
  { ref, options }: SetOptionsCommand,
  call: Call,
): Promise<RunRef & RunOptions> {
  return onLatestRun(ports, ref, call, async (run) => {
    const { workflowId, runId, status } = run
    if (!isOpen(status)) throw notRunning(run)
    return { workflowId, runId, ...(await ports.engine.setOptions({ workflowId, runId }, options, call)) }
  })
}

/** Not repeated for the next run of the chain: the step belongs to the run that was the latest. */
export async function reset(
  { engine, knownRuns }: Pick<Ports, 'engine' | 'knownRuns'>,
  { ref, target, reason }: ResetCommand,
  call: Call,
): Promise<ResetRun> {
  const run = await engine.describe(ref, call)
  rejectCatalog(run)
  const { workflowId, workflowName, catalog, pinnedVersion } = run
  const { runId, runsAgain } = await engine.reset(run, { target, reason }, call)
  call.audit({ runId, workflowName })
  // Messages to the workflow id now reach the new run. The run in the cache may be closed.
  knownRuns.add({ workflowId, runId, workflowName, catalog, pinnedVersion })
  return { workflowId, runId, runsAgain }
}

/**
 * Describes the run that `ref` names, and calls `act` with it.
 *
 * If an unpinned run closes in between, it may have continued as a new run, so both are repeated.
 */
export async function onLatestRun<T>(
  { engine }: Pick<Ports, 'engine'>,
  ref: ExecutionRef,
  call: Call,
  act: (run: Description) => Promise<T>,
): Promise<T> {
  const attemptOnce = async () => {
    const run = await engine.describe(ref, call)
    rejectCatalog(run)
    const { runId, workflowName } = run
    call.audit({ runId, workflowName })
    return act(run)
  }
  for (let attempt = 1; ; attempt++) {
    try {
      return await attemptOnce()
    } catch (error) {
      if (ref.runId !== undefined || !wasClosedMeanwhile(error)) throw error
      if (attempt === MAX_ATTEMPTS) throw continuedAlways(ref, error)
    }
  }
}

/** No attempt had an effect, so the client can retry. */
function continuedAlways({ workflowId }: ExecutionRef, cause: unknown): ServiceError {
  const message = `Workflow ${workflowId} continued as a new run during every attempt; retry the request`
  return new ServiceError('EngineUnavailableError', message, { cause, details: { workflowId, retryAfterSeconds: 1 } })
}

/**
 * Whether the run closed after it was described: only then the error is the engine's, and has a cause. A latest run
 * that was described as closed has no next run.
 */
function wasClosedMeanwhile(error: unknown): boolean {
  return hasErrorName(error, 'WorkflowNotRunningError') && error.cause !== undefined
}

/** The error for a run that was described as closed. Without a cause, because the engine has not rejected anything. */
export function notRunning({ workflowId, runId, status }: RunRef & { status: Status }): ServiceError {
  const message = `Workflow ${workflowId} is not running; its status is ${status}`
  return new ServiceError('WorkflowNotRunningError', message, {
    details: { workflowId, runId, workflowStatus: status },
  })
}
