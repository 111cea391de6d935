import { isOpen } from '../../protocol/execution.ts'
import type { Call } from '../call.ts'
import type { Ports } from '../ports.ts'
import type { ControlCommand, Paused } from '../workflows.ts'
import { notRunning } from './not-running.ts'
import { onLatestRun } from './on-latest-run.ts'

export function pause(ports: Pick<Ports, 'engine'>, command: ControlCommand, call: Call): Promise<Paused> {
  return setPaused(ports, command, true, call)
}

export function unpause(ports: Pick<Ports, 'engine'>, command: ControlCommand, call: Call): Promise<Paused> {
  return setPaused(ports, command, false, call)
}

/** The engine is called whatever the status is: only the engine knows whether the namespace allows it. */
function setPaused(
  { engine }: Pick<Ports, 'engine'>,
  { ref, reason }: ControlCommand,
  paused: boolean,
  call: Call,
): Promise<Paused> {
  return onLatestRun({ engine }, ref, call, async (run) => {
    if (!isOpen(run.status)) throw notRunning(run)
    const { workflowId, runId } = run
    await (paused ? engine.pause : engine.unpause)({ workflowId, runId }, reason, call)
    return { workflowId, runId, paused }
  })
}
