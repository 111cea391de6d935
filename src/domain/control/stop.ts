import { isOpen } from '../../protocol/execution.ts'
import type { Call } from '../model/call.ts'
import type { Ports } from '../model/ports.ts'
import type { ControlCommand, Stopped } from '../model/workflows.ts'
import { onLatestRun } from './on-latest-run.ts'

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
