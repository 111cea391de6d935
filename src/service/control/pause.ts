import { sleep } from '../../shared/lib/abort.ts'
import { isOpen } from '../../shared/wire/execution.ts'
import type { Call } from '../model/call.ts'
import type { ControlCommand, Paused } from '../model/commands.ts'
import { pauseNotEnabled, ServiceError } from '../model/errors.ts'
import type { Description } from '../model/execution.ts'
import type { Ports } from '../ports.ts'
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
const DELAYS_MS = [50, 100, 200, 400, 800]

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
  if (!(await engine.pauseSupported(call))) throw pauseNotEnabled(run)
  const message = `Workflow ${workflowId} cannot be paused now: no worker has taken its pending workflow task`
  throw new ServiceError('WorkflowNotReadyError', message, {
    details: { workflowId, runId, source: 'gateway', retryAfterSeconds: 1 },
  })
}
