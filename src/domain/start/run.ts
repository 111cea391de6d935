import { sleep } from '../../lib/abort.ts'
import { type Closing, type Execution, isOpen, type OpenStatus } from '../../protocol/execution.ts'
import type { RunRef } from '../../protocol/run-ref.ts'
import { toSingleValue } from '../../protocol/single-value.ts'
import { type Accepted, accept } from '../admission/admit-start.ts'
import { withIds } from '../attach-ids.ts'
import { type Call, SHUTTING_DOWN, unabortable, within } from '../call.ts'
import type { Catalogs } from '../catalog/catalogs.ts'
import { TIMEOUT_MS } from '../deadlines.ts'
import type { Engine, Started } from '../engine.ts'
import { ServiceError } from '../errors.ts'
import type { Description, WorkflowResult } from '../execution.ts'
import { toResult } from '../result.ts'
import { describeProblem, type Problem } from '../status/problem.ts'
import { fillTemplates, traceOrNull } from '../trace/destinations.ts'
import type { RunCommand } from '../workflows.ts'
import { startAccepted } from './start.ts'

// An engine at its limit must not be hurried.
const REST_MS = 500

/** Starts a workflow and waits for the end of its chain. What was started is never lost: every answer from then on carries its ids. */
export async function run(
  engine: Engine,
  catalogs: Catalogs,
  command: RunCommand,
  call: Call,
): Promise<WorkflowResult> {
  const beganAt = Date.now()
  const accepted = await accept(catalogs, command, call)
  const waitUntil = beganAt + command.timeoutMs
  // Of many starts at once the last ones take an engine longer than an answer may: who waits for the end can wait for the beginning.
  const started = await startAccepted(engine, command, accepted, {
    ...call,
    deadlineAt: Math.max(call.deadlineAt, waitUntil),
  })
  command.onStarted?.({ workflowId: started.workflowId, runId: started.runId })
  const waited = await waitForEnd(engine, started, { ...call, deadlineAt: waitUntil })
  const waitedMs = Date.now() - beganAt
  const end = waited.closing === null ? await lastLook(engine, waited.run, call) : waited
  if (end.closing === null) throw timedOut(end, waitedMs)
  try {
    return await toAnswer(
      { engine, catalogs, command, accepted, started },
      end.run,
      end.closing,
      within(call, TIMEOUT_MS.closedRun),
    )
  } catch (error) {
    throw withIds(error, end.run)
  }
}

interface End {
  /** The last run of the chain that was reached. */
  run: RunRef
  /** Null when it has not ended in time. */
  closing: Closing | null
  /** Of a run that has just been seen open. */
  status?: OpenStatus
  /** Why it does not go on. */
  problem?: Problem
}

async function waitForEnd(engine: Engine, started: Started, call: Call): Promise<End> {
  let run: RunRef = { workflowId: started.workflowId, runId: started.runId }
  try {
    while (true) {
      const closing = await engine.wait(run, call)
      if (closing?.nextRunId == null) return { run, closing }
      run = { ...run, runId: closing.nextRunId }
    }
  } catch (error) {
    throw withIds(error, run)
  }
}

/** Reads the chain's latest run once more when the time is over: polls may come back late, or not at all. */
async function lastLook(engine: Engine, reached: RunRef, call: Call): Promise<End> {
  const { aborted, reason } = call.signal
  // The client has left: no answer is read.
  if (aborted && reason !== SHUTTING_DOWN) return { run: reached, closing: null }
  const look = unabortable(call, aborted ? TIMEOUT_MS.closedRunAtShutdown : TIMEOUT_MS.closedRun)
  for (let run = reached; ; ) {
    const seen = await describeOrNull(engine, run, look)
    if (seen === null) return { run, closing: null }
    const { status, failingTask } = seen
    if (isOpen(status)) {
      const problem = await failingTask?.problem(look)
      return { run, closing: null, status, ...(problem && { problem }) }
    }
    const { closing } = await readPatiently(engine, run, look).catch((error) => Promise.reject(withIds(error, run)))
    if (closing?.nextRunId == null) return { run, closing }
    run = { ...run, runId: closing.nextRunId }
  }
}

/** Null when the engine does not say. */
async function describeOrNull(engine: Engine, run: RunRef, call: Call): Promise<Description | null> {
  try {
    return await engine.describe(run, call)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw withIds(error, run)
    call.note({ endUnread: error.message })
    return null
  }
}

interface Ran {
  engine: Engine
  catalogs: Catalogs
  command: RunCommand
  accepted: Accepted
  started: Started
}

/** What was sent is the input and the catalog knows where the trace is, unless a chain, a cancellation or a silent catalog asks for a look. */
async function toAnswer(
  { engine, catalogs, command, accepted, started }: Ran,
  run: RunRef,
  closing: Closing,
  call: Call,
) {
  const isChain = run.runId !== started.runId
  const hasReason = closing.outcome.status === 'canceled'
  const known = { ...run, input: isChain ? null : toSingleValue(command.args) }
  const traceKnown = accepted.traces === null ? null : fillTemplates(accepted.traces, run, catalogs.namespace)
  if (!isChain && !hasReason && accepted.traces !== null) return toResult(known, closing, traceKnown)
  try {
    const execution = await readPatiently(engine, run, call, hasReason ? undefined : closing)
    return toResult(execution, execution.closing ?? closing, await traceOrNull(execution, catalogs, call))
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    // How it ended is known, and that is what the caller waited for: what could not be read beside it is null.
    call.note({ endUnread: error.message })
    return toResult(known, closing, traceKnown)
  }
}

/** Whoever has waited for the end is not turned away for the engine's limits. */
async function readPatiently(engine: Engine, run: RunRef, call: Call, closing?: Closing): Promise<Execution> {
  while (true) {
    try {
      return await engine.read(run, call, closing)
    } catch (error) {
      const isBusy = error instanceof ServiceError && error.error === 'ResourceExhaustedError'
      if (!isBusy || call.signal.aborted || Date.now() + REST_MS > call.deadlineAt) throw error
      await sleep(REST_MS, call.signal)
    }
  }
}

/** "Still running" is said only of a run that was open a moment ago. */
function timedOut({ run: { workflowId, runId }, status, problem }: End, waitedMs: number): ServiceError {
  const now = status === undefined ? '; its status could not be read' : ` and is still ${status}`
  const why = problem === undefined ? '' : `; ${describeProblem(problem)}`
  return new ServiceError(
    'WorkflowExecutionTimedOutError',
    `Workflow ${workflowId} did not complete within ${waitedMs} ms${now}${why}`,
    {
      details: {
        workflowId,
        runId,
        ...(status !== undefined && { workflowStatus: status }),
        ...(problem && { problem }),
      },
    },
  )
}
