import type { Execution } from '../../shared/wire/execution.ts'
import type { RunRef } from '../../shared/wire/run-ref.ts'
import { traceMetaOrNull } from '../catalog/catalogs.ts'
import { type Call, withinCall, withTimeout } from '../model/call.ts'
import type { ResultCommand } from '../model/commands.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import { isOutage, ServiceError } from '../model/errors.ts'
import { type ExecutionRef, rejectReserved, type WorkflowResult } from '../model/execution.ts'
import type { Ports } from '../ports.ts'
import { endedResult, type KnownFields, shownTo, toResult, type WaitPorts, waitForEnd } from './chain-end.ts'

type ResultPorts = Pick<Ports, 'catalogs' | 'engine'>

/** The result of a run that exists already. */
export function result(
  ports: ResultPorts & WaitPorts,
  { waitMs, ...command }: ResultCommand,
  call: Call,
): Promise<WorkflowResult> {
  return waitMs === null ? readResult(ports, command.ref, call) : waitForResult(ports, { ...command, waitMs }, call)
}

/** The result of a closed run. Rejects with `WorkflowNotCompletedError` while it is open. */
export async function readResult(
  { engine, catalogs }: ResultPorts,
  ref: ExecutionRef,
  call: Call,
): Promise<WorkflowResult> {
  const execution = await engine.read(ref, call)
  rejectReserved(execution)
  const { workflowId, runId, status, closing } = execution
  if (closing !== null)
    return toResult(shownTo(call, execution), closing, await traceMetaOrNull(execution, catalogs, call))
  const message = `Workflow ${workflowId} has no result yet; its status is ${status}`
  throw new ServiceError('WorkflowNotCompletedError', message, {
    details: { workflowId, runId, workflowStatus: status },
  })
}

async function waitForResult(
  ports: ResultPorts & WaitPorts,
  { ref, followsChain, waitMs, onFound }: ResultCommand & { waitMs: number },
  call: Call,
): Promise<WorkflowResult> {
  const arrivedAt = Date.now()
  const { run, execution } = await findRun(ports, ref, call)
  onFound?.(run)
  const closing = execution?.closing ?? null
  const nextRunId = followsChain ? (closing?.nextRunId ?? null) : null
  if (execution !== null && closing !== null && nextRunId === null)
    return toResult(execution, closing, await traceMetaOrNull(execution, ports.catalogs, call))
  call.startWaiting()
  const wait = { run: { ...run, runId: nextRunId ?? run.runId }, followsChain, arrivedAt, waitMs }
  const ended = await waitForEnd(ports, wait, call)
  return endedResult(ports, ended, await toKnown(ports, execution, withTimeout(call, TIMEOUT_MS.closedRun)), call)
}

interface AwaitedRun {
  run: RunRef
  /** Null when it cannot be read at the moment. */
  execution: Execution | null
}

/**
 * Finds the run to wait for. A wait continues through outages, so it can also begin during one if the run id is known.
 */
async function findRun({ engine }: WaitPorts, ref: ExecutionRef, call: Call): Promise<AwaitedRun> {
  const { workflowId, runId } = ref
  try {
    const execution = await engine.read(ref, call)
    rejectReserved(execution)
    return { run: { workflowId, runId: execution.runId }, execution }
  } catch (error) {
    if (!isOutage(error) || runId === undefined) throw error
    call.note({ waitInterrupted: error })
    return { run: { workflowId, runId }, execution: null }
  }
}

/** What was read before the wait and cannot change during it, unlike the memo. */
async function toKnown({ catalogs }: Pick<Ports, 'catalogs'>, run: Execution | null, call: Call): Promise<KnownFields> {
  if (run === null) return { runId: null, input: null, traces: null }
  const { runId, input, catalog } = run
  try {
    const { value: published } = await withinCall(catalogs.published(catalog), call)
    return { runId, input, traces: published?.traces ?? null }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return { runId, input, traces: null }
  }
}
