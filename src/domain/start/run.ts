import { toSingleValue } from '../../protocol/single-value.ts'
import { type AdmitStartPorts, admitStart } from '../admission/admit-start.ts'
import { attachIds } from '../attach-ids.ts'
import type { Call } from '../call.ts'
import type { WorkflowResult } from '../execution.ts'
import { type WaitPorts, waitForEnd } from '../wait/chain-end.ts'
import { endedResult } from '../wait/ended-result.ts'
import type { RunCommand } from '../workflows.ts'
import { startAdmitted } from './start.ts'

/** Starts a workflow and waits for the end of its chain. Every error after the start carries the ids of the run. */
export async function run(
  ports: AdmitStartPorts & WaitPorts,
  command: RunCommand,
  call: Call,
): Promise<WorkflowResult> {
  const { timeoutMs: waitMs } = command
  const arrivedAt = Date.now()
  const admitted = await admitStart(ports, command, call)
  // An engine with many starts at once may need longer than a request has, and this client waits anyway.
  const startCall = { ...call, deadlineAt: Math.max(call.deadlineAt, arrivedAt + waitMs) }
  const started = await startAdmitted(ports, command, admitted, startCall)
  call.startWaiting()
  const { firstRunId: _, ...startedRun } = started
  command.onStarted?.(startedRun)
  const { workflowId, runId, isExisting = false } = startedRun
  try {
    const ended = await waitForEnd(ports, { run: { workflowId, runId }, followsChain: true, arrivedAt, waitMs }, call)
    const known = { runId: isExisting ? null : runId, input: toSingleValue(command.args), traces: admitted.traces }
    return await endedResult(ports, ended, known, call)
  } catch (error) {
    throw attachIds(error, {})
  }
}
