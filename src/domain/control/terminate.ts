import { isOpen } from '../../protocol/execution.ts'
import type { RunRef } from '../../protocol/run-ref.ts'
import type { Call } from '../model/call.ts'
import type { Ports } from '../model/ports.ts'
import type { ControlCommand } from '../model/workflows.ts'
import { notRunning } from './not-running.ts'
import { onLatestRun } from './on-latest-run.ts'

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
