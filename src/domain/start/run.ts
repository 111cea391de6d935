import { isOpen } from '../../protocol/execution.ts'
import { toSingleValue } from '../../protocol/single-value.ts'
import { addIds, attachIds } from '../model/attach-ids.ts'
import { type Call, withTimeout } from '../model/call.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import type { WorkflowResult } from '../model/execution.ts'
import type { RunCommand } from '../model/workflows.ts'
import { type WaitPorts, waitForEnd } from '../wait/chain-end.ts'
import { endedResult, type KnownFields } from '../wait/ended-result.ts'
import { readResult } from '../wait/result.ts'
import { type StartOutcome, type StartPorts, startOrRepeat, toRunStart } from './start.ts'
import type { RepeatedRun } from './start-once.ts'

/** Starts a workflow and waits for the end of its chain. Every error after the start carries the ids of the run. */
export async function run(ports: StartPorts & WaitPorts, command: RunCommand, call: Call): Promise<WorkflowResult> {
  const { timeoutMs: waitMs } = command
  const arrivedAt = Date.now()
  // An engine with many starts at once may need longer than other requests may take, and this client waits anyway.
  const startCall = { ...call, deadlineAt: Math.max(call.deadlineAt, arrivedAt + waitMs) }
  const start = await startOrRepeat(ports, command, call, startCall)
  call.startWaiting()
  command.onStarted?.(toRunStart(start))
  try {
    if ('repeated' in start && !isOpen(start.repeated.status)) return await readRepeated(ports, start.repeated, call)
    const { workflowId, runId } = 'started' in start ? start.started : start.repeated
    const ended = await waitForEnd(ports, { run: { workflowId, runId }, followsChain: true, arrivedAt, waitMs }, call)
    return await endedResult(ports, ended, knownFields(command, start), call)
  } catch (error) {
    // With a key it is safe to repeat the request.
    throw command.idempotencyKey === undefined ? attachIds(error, {}) : error
  }
}

/** Nothing is known about the run of an earlier request: its catalog may have changed since, so the run is read. */
function knownFields({ args }: RunCommand, start: StartOutcome): KnownFields {
  if ('repeated' in start) return { runId: null, input: null, traces: null }
  const { runId, isExisting = false } = start.started
  return { runId: isExisting ? null : runId, input: toSingleValue(args), traces: start.admitted.traces }
}

async function readRepeated(
  ports: StartPorts,
  { workflowId, runId }: RepeatedRun,
  call: Call,
): Promise<WorkflowResult> {
  try {
    return await readResult(ports, { workflowId, runId }, withTimeout(call, TIMEOUT_MS.closedRun))
  } catch (error) {
    throw addIds(error, { workflowId, runId })
  }
}
