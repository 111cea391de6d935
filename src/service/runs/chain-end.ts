/** Waits for the end of a run or its chain, and reads its result. */
import { retryWithBackoff } from '../../shared/lib/abort.ts'
import type { TraceTemplates } from '../../shared/wire/catalog.ts'
import { type Closing, type Execution, isOpen, type OpenStatus } from '../../shared/wire/execution.ts'
import type { RunRef } from '../../shared/wire/run-ref.ts'
import type { TraceMeta } from '../../shared/wire/trace/trace-meta.ts'
import { fillTemplates, traceMetaOrNull } from '../catalog/catalogs.ts'
import { addIds } from '../model/attach-ids.ts'
import {
  admitsRun,
  type Call,
  CREDENTIAL_EXPIRED,
  CREDENTIAL_REVOKED,
  isAbortedByService,
  unabortable,
  withTimeout,
} from '../model/call.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import type { Engine } from '../model/engine.ts'
import { hasErrorName, ServiceError } from '../model/errors.ts'
import type { Description, WorkflowResult } from '../model/execution.ts'
import { describeProblem, type Problem } from '../model/problem.ts'
import { outputStoredElsewhere } from '../model/stored-elsewhere.ts'
import type { Ports } from '../ports.ts'

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
  const { run: last, closing, ...state } = await readAfterTimeout(ports, { ...wait, run }, call)
  if (closing === null) throw timeoutError(last, state, wait.waitMs, call.signal)
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
  const { aborted } = call.signal
  // The client has disconnected and does not read the response.
  if (aborted && !isAbortedByService(call.signal)) return { run: wait.run, closing: null }
  // Finding the run may have taken longer than the wait.
  const leftMs = wait.arrivedAt + wait.waitMs + TIMEOUT_MS.request - Date.now()
  const readMs = aborted ? TIMEOUT_MS.closedRunAtShutdown : TIMEOUT_MS.closedRun
  return readLastOfChain(ports, wait, unabortable(call, Math.min(readMs, leftMs)))
}

async function readLastOfChain(ports: WaitPorts, wait: Wait, call: Call): Promise<WaitResult> {
  const { run } = wait
  const description = await tryDescribe(ports, run, call)
  if (description === null) return { run, closing: null }
  const { status, failingTask } = description
  if (isOpen(status)) {
    const problem = admitsRun(call, description) ? await failingTask?.problem(call) : undefined
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

/** Has `retryAfterSeconds` if the same wait can be repeated. */
function timeoutError(
  { workflowId, runId }: RunRef,
  { status, problem }: OpenState,
  waitMs: number,
  { aborted, reason }: AbortSignal,
): ServiceError {
  const early = aborted ? endedEarly(reason) : null
  const why = problem === undefined ? '' : `; ${describeProblem(problem)}`
  const message = `${early?.message ?? overdue(workflowId, status, waitMs)}${why}`
  return new ServiceError('WorkflowExecutionTimedOutError', message, {
    details: {
      workflowId,
      runId,
      ...(status !== undefined && { workflowStatus: status }),
      ...(problem && { problem }),
      ...(!early?.isOfCredential && { retryAfterSeconds: 1 }),
    },
  })
}

/** Why a wait has ended before its time, and whether the same wait cannot be repeated with the credential. */
export function endedEarly(reason: unknown): { message: string; isOfCredential: boolean } {
  if (reason === CREDENTIAL_EXPIRED)
    return { message: 'The credential has expired; continue at Location with a new one', isOfCredential: true }
  if (reason === CREDENTIAL_REVOKED) {
    const message = 'The policy no longer allows this with the credential; continue at Location with another one'
    return { message, isOfCredential: true }
  }
  return { message: 'The service is stopping; continue at Location', isOfCredential: false }
}

/** Says "is still running" only of a run that was described as open just now. */
function overdue(workflowId: string, status: OpenStatus | undefined, waitMs: number): string {
  const state = status === undefined ? '; its status could not be read' : ` and is still ${status}`
  return `Workflow ${workflowId} did not complete within ${waitMs} ms${state}`
}

/** What is known about a run without reading it again. */
export interface KnownFields {
  /** Null if no input is known. */
  runId: string | null
  input: unknown
  /** Where its catalog says that traces are written; null when it does not say. */
  traces: TraceTemplates | null
}

type ResultPorts = Pick<Ports, 'catalogs' | 'engine'>

/** The result of a run that was waited for. Every error carries its ids. */
export async function endedResult(
  ports: ResultPorts,
  ended: EndedRun,
  known: KnownFields,
  call: Call,
): Promise<WorkflowResult> {
  try {
    return await resultOf(ports, ended, known, withTimeout(call, TIMEOUT_MS.closedRun))
  } catch (error) {
    throw addIds(error, ended.run)
  }
}

/**
 * Usually everything is known: the input, and from the catalog the location of the trace. The run is only read if it is
 * another one (the chain continued), was canceled (for the reason), or has a catalog without trace settings.
 */
async function resultOf(
  { engine, catalogs }: ResultPorts,
  { run, closing }: EndedRun,
  known: KnownFields,
  call: Call,
): Promise<WorkflowResult> {
  const isOther = run.runId !== known.runId
  const isCanceled = closing.outcome.status === 'canceled'
  const knownRun = { ...run, input: isOther ? null : known.input }
  const knownTrace = known.traces === null ? null : fillTemplates(known.traces, run, catalogs.namespace)
  if (!isOther && !isCanceled && known.traces !== null) return toResult(knownRun, closing, knownTrace)
  try {
    const execution = await readWithBackoff(engine, run, call, isCanceled ? undefined : closing)
    return toResult(
      shownTo(call, execution),
      execution.closing ?? closing,
      await traceMetaOrNull(execution, catalogs, call),
    )
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    // The client has waited for the outcome, which is known. Fields that could not be read are null.
    call.note({ endUnread: error.message })
    return toResult(knownRun, closing, knownTrace)
  }
}

/** The run without its input, if its workflow is one that the caller may not read: docs/access.md. */
export function shownTo(call: Call, execution: Execution): Execution {
  return admitsRun(call, execution) ? execution : { ...execution, input: null }
}

/**
 * The specification's workflow result of one run.
 * Throws `NotSupportedError` when the output is stored outside the engine.
 */
export function toResult(
  { workflowId, runId, input }: Pick<Execution, 'input' | 'runId' | 'workflowId'>,
  { outcome, trace: traceInEnd }: Closing,
  trace: TraceMeta | null,
): WorkflowResult {
  if (outcome.status === 'completed' && outcome.storedElsewhere !== undefined) {
    const facts = { workflowId, runId, workflowStatus: outcome.status }
    throw outputStoredElsewhere(`The output of workflow ${workflowId}`, outcome.storedElsewhere, facts)
  }
  const error = 'error' in outcome ? outcome.error : null
  return {
    workflowId,
    runId,
    status: outcome.status,
    input,
    output: outcome.status === 'completed' ? outcome.output : null,
    trace: trace ?? traceInEnd ?? null,
    // A failure may have no message, but `error` must not be empty for it.
    error: error && (error.message || error.name),
    errorDetails: error,
  }
}

// Pause before another read when the engine is at its limit.
const BACKOFF_MS = 500

/** A client that has waited for the end does not get a 429: the read is repeated while the engine is at its limit. */
export function readWithBackoff(engine: Engine, run: RunRef, call: Call, closing?: Closing): Promise<Execution> {
  const { signal, deadlineAt } = call
  function delayMs(error: unknown): number {
    const isBusy = hasErrorName(error, 'ResourceExhaustedError')
    if (!isBusy || signal.aborted || Date.now() + BACKOFF_MS > deadlineAt) throw error
    return BACKOFF_MS
  }
  return retryWithBackoff(() => engine.read(run, call, closing), { delayMs, signal })
}
