import type { Closing } from '../../protocol/execution.ts'
import { isOpen, type OpenStatus } from '../../protocol/execution.ts'
import type { RunRef } from '../../protocol/run-ref.ts'
import { addIds } from '../model/attach-ids.ts'
import { type Call, SHUTTING_DOWN, unabortable } from '../model/call.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import { ServiceError } from '../model/errors.ts'
import type { Description } from '../model/execution.ts'
import type { Ports } from '../model/ports.ts'
import { describeProblem, type Problem } from '../model/problem.ts'
import { readWithBackoff } from './read-with-backoff.ts'

export type WaitPorts = Pick<Ports, 'engine' | 'limitLastReads'>

export interface Wait {
  /** The run to begin with. */
  run: RunRef
  /** Whether to wait for the end of the whole chain, or only of this run. */
  followsChain: boolean
  /** Epoch milliseconds of the request. */
  arrivedAt: number
  waitMs: number
}

export interface EndedRun {
  run: RunRef
  closing: Closing
}

/**
 * Waits for the end of a run, or of its chain. Rejects with `WorkflowExecutionTimedOutError` if it is open after
 * `waitMs`. Every error carries the ids of the last run that is known.
 */
export async function waitForEnd(ports: WaitPorts, wait: Wait, call: Call): Promise<EndedRun> {
  const waitCall = { ...call, deadlineAt: wait.arrivedAt + wait.waitMs }
  let { run } = wait
  try {
    // Not a function of its own: each function in which a waiting request is suspended takes half a KiB.
    while (true) {
      const closing = await ports.engine.wait(run, waitCall)
      if (closing === null) break
      const next = nextRun(wait, run, closing)
      if (next === null) return { run, closing }
      run = next
    }
  } catch (error) {
    throw addIds(error, run)
  }
  // What the client has requested, unless the shutdown has ended the wait early.
  const waitedMs = call.signal.aborted ? Date.now() - wait.arrivedAt : wait.waitMs
  const { run: last, closing, ...state } = await readAfterTimeout(ports, { ...wait, run }, call)
  if (closing === null) throw timeoutError(last, state, waitedMs)
  return { run: last, closing }
}

interface OpenState {
  /** Set when the run was described just now, and is open. */
  status?: OpenStatus
  /** Why the open run makes no progress, if that is known. */
  problem?: Problem
}

interface WaitResult extends OpenState {
  /** The last run of the chain that is known. */
  run: RunRef
  /** Null when that run has not ended in time. */
  closing: Closing | null
}

function nextRun({ followsChain }: Wait, run: RunRef, closing: Closing | null): RunRef | null {
  return followsChain && closing?.nextRunId != null ? { ...run, runId: closing.nextRunId } : null
}

/** Reads the last run of the chain once more when the time is over: a poll may return late, or never. */
async function readAfterTimeout(ports: WaitPorts, wait: Wait, call: Call): Promise<WaitResult> {
  const { aborted, reason } = call.signal
  // The client has disconnected and does not read the response.
  if (aborted && reason !== SHUTTING_DOWN) return { run: wait.run, closing: null }
  return readLastOfChain(
    ports,
    wait,
    unabortable(call, aborted ? TIMEOUT_MS.closedRunAtShutdown : TIMEOUT_MS.closedRun),
  )
}

async function readLastOfChain(ports: WaitPorts, wait: Wait, call: Call): Promise<WaitResult> {
  const { run } = wait
  const description = await tryDescribe(ports, run, call)
  if (description === null) return { run, closing: null }
  const { status, failingTask } = description
  if (isOpen(status)) {
    const problem = await failingTask?.problem(call)
    return { run, closing: null, status, ...(problem && { problem }) }
  }
  const { closing } = await readWithBackoff(ports.engine, run, call).catch((error) =>
    Promise.reject(addIds(error, run)),
  )
  const next = nextRun(wait, run, closing)
  return next === null ? { run, closing } : readLastOfChain(ports, { ...wait, run: next }, call)
}

async function tryDescribe(
  { engine, limitLastReads = (read) => read() }: WaitPorts,
  run: RunRef,
  call: Call,
): Promise<Description | null> {
  try {
    const isOver = () => Date.now() >= call.deadlineAt
    const description = await limitLastReads(async () => (isOver() ? null : engine.describe(run, call)))
    if (description === null) call.note({ endUnread: 'too many runs were read at the same time' })
    return description
  } catch (error) {
    if (!(error instanceof ServiceError)) throw addIds(error, run)
    call.note({ endUnread: error.message })
    return null
  }
}

/**
 * Says "is still running" only of a run that was described as open just now. Has `retryAfterSeconds`, because it is
 * safe to repeat a wait.
 */
function timeoutError({ workflowId, runId }: RunRef, { status, problem }: OpenState, waitedMs: number): ServiceError {
  const state = status === undefined ? '; its status could not be read' : ` and is still ${status}`
  const reason = problem === undefined ? '' : `; ${describeProblem(problem)}`
  const message = `Workflow ${workflowId} did not complete within ${waitedMs} ms${state}${reason}`
  return new ServiceError('WorkflowExecutionTimedOutError', message, {
    details: {
      workflowId,
      runId,
      ...(status !== undefined && { workflowStatus: status }),
      ...(problem && { problem }),
      retryAfterSeconds: 1,
    },
  })
}
