import { sleep } from '../../lib/abort.ts'
import { type Closing, type Execution, isOpen, type OpenStatus } from '../../protocol/execution.ts'
import type { RunRef } from '../../protocol/run-ref.ts'
import { toSingleValue } from '../../protocol/single-value.ts'
import { type AdmitStartPorts, type AdmittedStart, admitStart } from '../admission/admit-start.ts'
import { attachIds } from '../attach-ids.ts'
import { type Call, SHUTTING_DOWN, unabortable, withTimeout } from '../call.ts'
import { TIMEOUT_MS } from '../deadlines.ts'
import type { Engine, Started, StartedRun } from '../engine.ts'
import { hasErrorName, ServiceError } from '../errors.ts'
import type { Description, WorkflowResult } from '../execution.ts'
import { describeProblem, type Problem } from '../inspect/problem.ts'
import type { Ports } from '../ports.ts'
import { toResult } from '../to-result.ts'
import { fillTemplates, traceMetaOrNull } from '../trace/destinations.ts'
import type { RunCommand } from '../workflows.ts'
import { startAdmitted } from './start.ts'

type RunPorts = AdmitStartPorts & Pick<Ports, 'engine' | 'limitLastReads'>

// Pause before another read when the engine is at its limit.
const BACKOFF_MS = 500

/** Starts a workflow and waits for the end of its chain. Every error after the start carries the ids of the run. */
export async function run(ports: RunPorts, command: RunCommand, call: Call): Promise<WorkflowResult> {
  const arrivedAt = Date.now()
  const waitUntil = arrivedAt + command.timeoutMs
  const admitted = await admitStart(ports, command, call)
  // An engine with many starts at once may need longer than a request has, and this client waits anyway.
  const startCall = { ...call, deadlineAt: Math.max(call.deadlineAt, waitUntil) }
  const started = await startAdmitted(ports, command, admitted, startCall)
  call.startWaiting()
  const { firstRunId: _, ...startedRun } = started
  command.onStarted?.(startedRun)
  const waited = await waitForEnd(ports.engine, started, { ...call, deadlineAt: waitUntil })
  const waitedMs = Date.now() - arrivedAt
  const end = waited.closing === null ? await readAfterTimeout(ports, waited.run, call) : waited
  if (end.closing === null) throw timeoutError(end, waitedMs)
  try {
    const ended = { command, admitted, started, run: end.run, closing: end.closing }
    return await resultOfEnded(ports, ended, withTimeout(call, TIMEOUT_MS.closedRun))
  } catch (error) {
    throw attachIds(error, end.run)
  }
}

interface WaitResult {
  /** The last run of the chain that is known. */
  run: RunRef
  /** Null when that run has not ended in time. */
  closing: Closing | null
  /** Set when the run was described just now, and is open. */
  status?: OpenStatus
  /** Why the open run makes no progress, if that is known. */
  problem?: Problem
}

async function waitForEnd(engine: Engine, started: Started, call: Call): Promise<WaitResult> {
  let run: RunRef = { workflowId: started.workflowId, runId: started.runId }
  try {
    while (true) {
      const closing = await engine.wait(run, call)
      if (closing?.nextRunId == null) return { run, closing }
      run = { ...run, runId: closing.nextRunId }
    }
  } catch (error) {
    throw attachIds(error, run)
  }
}

/** Reads the last run of the chain once more when the time is over: a poll may return late, or never. */
async function readAfterTimeout(ports: RunPorts, known: RunRef, call: Call): Promise<WaitResult> {
  const { aborted, reason } = call.signal
  // The client has disconnected and does not read the response.
  if (aborted && reason !== SHUTTING_DOWN) return { run: known, closing: null }
  const readCall = unabortable(call, aborted ? TIMEOUT_MS.closedRunAtShutdown : TIMEOUT_MS.closedRun)
  for (let run = known; ; ) {
    const description = await describeOrNull(ports, run, readCall)
    if (description === null) return { run, closing: null }
    const { status, failingTask } = description
    if (isOpen(status)) {
      const problem = await failingTask?.problem(readCall)
      return { run, closing: null, status, ...(problem && { problem }) }
    }
    const { closing } = await readWithBackoff(ports.engine, run, readCall).catch((error) =>
      Promise.reject(attachIds(error, run)),
    )
    if (closing?.nextRunId == null) return { run, closing }
    run = { ...run, runId: closing.nextRunId }
  }
}

async function describeOrNull(
  { engine, limitLastReads = (read) => read() }: RunPorts,
  run: RunRef,
  call: Call,
): Promise<Description | null> {
  try {
    const isOver = () => Date.now() >= call.deadlineAt
    const description = await limitLastReads(async () => (isOver() ? null : engine.describe(run, call)))
    if (description === null) call.note({ endUnread: 'too many runs were read at the same time' })
    return description
  } catch (error) {
    if (!(error instanceof ServiceError)) throw attachIds(error, run)
    call.note({ endUnread: error.message })
    return null
  }
}

interface EndedRun {
  command: RunCommand
  admitted: AdmittedStart
  started: StartedRun
  /** The last run of the chain, and how it ended. */
  run: RunRef
  closing: Closing
}

/**
 * Usually everything is known: the input was sent, and the catalog says where the trace is. The run is only read when it
 * is another one than the one that this request started, was canceled (for the reason), or has a catalog without trace settings.
 */
async function resultOfEnded({ engine, catalogs }: RunPorts, ended: EndedRun, call: Call): Promise<WorkflowResult> {
  const { command, admitted, started, run, closing } = ended
  const isOther = started.isExisting === true || run.runId !== started.runId
  const isCanceled = closing.outcome.status === 'canceled'
  const knownRun = { ...run, input: isOther ? null : toSingleValue(command.args) }
  const knownTrace = admitted.traces === null ? null : fillTemplates(admitted.traces, run, catalogs.namespace)
  if (!isOther && !isCanceled && admitted.traces !== null) return toResult(knownRun, closing, knownTrace)
  try {
    const execution = await readWithBackoff(engine, run, call, isCanceled ? undefined : closing)
    return toResult(execution, execution.closing ?? closing, await traceMetaOrNull(execution, catalogs, call))
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    // The client has waited for the outcome, which is known. Fields that could not be read are null.
    call.note({ endUnread: error.message })
    return toResult(knownRun, closing, knownTrace)
  }
}

/** A client that has waited for the end does not get a 429: the read is repeated while the engine is at its limit. */
async function readWithBackoff(engine: Engine, run: RunRef, call: Call, closing?: Closing): Promise<Execution> {
  while (true) {
    try {
      return await engine.read(run, call, closing)
    } catch (error) {
      const isBusy = hasErrorName(error, 'ResourceExhaustedError')
      if (!isBusy || call.signal.aborted || Date.now() + BACKOFF_MS > call.deadlineAt) throw error
      await sleep(BACKOFF_MS, call.signal)
    }
  }
}

/** Says "is still running" only of a run that was described as open just now. */
function timeoutError({ run: { workflowId, runId }, status, problem }: WaitResult, waitedMs: number): ServiceError {
  const state = status === undefined ? '; its status could not be read' : ` and is still ${status}`
  const reason = problem === undefined ? '' : `; ${describeProblem(problem)}`
  const message = `Workflow ${workflowId} did not complete within ${waitedMs} ms${state}${reason}`
  return new ServiceError('WorkflowExecutionTimedOutError', message, {
    details: {
      workflowId,
      runId,
      ...(status !== undefined && { workflowStatus: status }),
      ...(problem && { problem }),
    },
  })
}
