import { sleep } from '../../lib/abort.ts'
import { isOpen } from '../../protocol/execution.ts'
import type { RunRef } from '../../protocol/run-ref.ts'
import type { Call } from '../model/call.ts'
import { ServiceError } from '../model/errors.ts'
import type { Description } from '../model/execution.ts'
import type { Ports } from '../model/ports.ts'
import type { ControlCommand, Paused } from '../model/workflows.ts'
import { notRunning, onLatestRun } from './control.ts'

/** Calls the engine also for a paused run, because it rejects the call if the namespace does not allow pauses. */
export function pause({ engine }: Pick<Ports, 'engine'>, command: ControlCommand, call: Call): Promise<Paused> {
  return onLatestRun({ engine }, command.ref, call, async (run) => {
    if (!isOpen(run.status)) throw notRunning(run)
    if (run.status !== 'paused') await untilTaskStarted({ engine }, run, call)
    const { workflowId, runId } = run
    await engine.pause({ workflowId, runId }, command.reason, call)
    return { workflowId, runId, paused: true }
  })
}

export function unpause({ engine }: Pick<Ports, 'engine'>, command: ControlCommand, call: Call): Promise<Paused> {
  return onLatestRun({ engine }, command.ref, call, async (run) => {
    if (!isOpen(run.status)) throw notRunning(run)
    const { workflowId, runId } = run
    await engine.unpause({ workflowId, runId }, command.reason, call)
    return { workflowId, runId, paused: false }
  })
}

// A worker takes a task within milliseconds, unless it is busy.
const DELAYS_MS = [50, 100, 200, 400, 800, 1000]

/**
 * Waits until a worker has taken the workflow task. A pause before that would record a failure of the task, and
 * Temporal's Core-based SDKs cannot replay such a history: the run would never continue.
 */
async function untilTaskStarted({ engine }: Pick<Ports, 'engine'>, run: Description, call: Call): Promise<void> {
  const { workflowId, runId } = run
  let current = run
  for (const delayMs of DELAYS_MS) {
    if (!current.hasUnstartedTask) return
    await sleep(delayMs, call.signal)
    current = await engine.describe({ workflowId, runId }, call)
  }
  if (!current.hasUnstartedTask) return
  if (!(await engine.pauseSupported(call))) throw notEnabled(run)
  const message = `Workflow ${workflowId} cannot be paused now: no worker has taken its pending workflow task`
  throw new ServiceError('WorkflowNotReadyError', message, {
    details: { workflowId, runId, source: 'gateway', retryAfterSeconds: 1 },
  })
}

/** The error for a pause in a namespace that does not allow it. */
export function notEnabled({ workflowId, runId }: RunRef, cause?: Error): ServiceError {
  const message = 'Pausing is not enabled in this namespace of the workflow engine (GET /capabilities: pause)'
  return new ServiceError('NotSupportedError', message, { cause, details: { workflowId, runId } })
}
