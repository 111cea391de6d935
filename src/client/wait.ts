/**
 * Waits for the end of a run with requests that each wait for a limited time: docs/decisions/042-waits-of-the-client.md
 */
import { sleep } from '../shared/lib/abort.ts'
import type { ResultOptions } from './client.ts'
import type { Connection } from './connection/connection.ts'
import type { HttpRequest, RequestLimits } from './connection/request.ts'
import { isNoResponse } from './connection/retry-delay.ts'
import { PorticoError, type PorticoErrorFacts, withFacts } from './portico-error.ts'
import type { OpenRun, Status, WorkflowResult } from './responses.ts'
import { pathOf, type Target } from './target.ts'

export type WaitRequest = (waitMs: number) => HttpRequest

/** The facts of errors about the wait. Status and problem are those of the last response. */
type KnownRun = Partial<OpenRun> & Pick<PorticoErrorFacts, 'idempotencyKey' | 'mayHaveTakenEffect'>

/** Sends `first`, and then waits for the run that its response names. All errors have the ids that are `known`. */
export async function untilEnded(
  connection: Connection,
  first: WaitRequest,
  { isPinned = false, ...known }: KnownRun & { isPinned?: boolean },
  { signal, timeoutMs = Number.POSITIVE_INFINITY, onOpen }: ResultOptions,
): Promise<WorkflowResult> {
  const limits = { signal, timeoutMs, deadlineAt: Date.now() + timeoutMs }
  let request = first
  let run: KnownRun = known
  while (true) {
    const startedAt = Date.now()
    const response = await waitOnce(connection, request, run, limits)
    if ('result' in response) return response.result
    // Status and problem may have changed since the last response.
    const { workflowStatus: _status, problem: _problem, ...ids } = run
    run = { ...ids, ...response.open }
    onOpen?.(response.open)
    if (Date.now() >= limits.deadlineAt) throw timedOut(run, timeoutMs)
    // A service that shuts down responds at once.
    await sleep(Math.max(0, startedAt + response.intervalMs - Date.now()), signal)
    signal?.throwIfAborted()
    request = resultRequest({ ...response.open, isPinned })
  }
}

/** `intervalMs`: how long after this request the next one may follow. */
async function waitOnce(
  { sendWaiting }: Connection,
  request: WaitRequest,
  run: KnownRun,
  limits: RequestLimits,
): Promise<{ result: WorkflowResult } | { open: OpenRun; intervalMs: number }> {
  try {
    const { status, body } = await sendWaiting(request, limits)
    if (status !== ACCEPTED) return { result: body as WorkflowResult }
    return { open: acceptedRun(body as AcceptedRun), intervalMs: 0 }
  } catch (error) {
    if (!(error instanceof PorticoError)) throw error
    const open = openRun(error)
    if (open !== null) return { open, intervalMs: error.retryAfterMs ?? 0 }
    // If a connection is lost when the time is over, it is more useful to report the open run.
    const isLost = error.error === 'ConnectionError' && run.runId !== undefined && Date.now() >= limits.deadlineAt
    if (!isLost && !isNoResponse(error)) throw withFacts(error, run)
    throw timedOut({ ...run, ...(error.mayHaveTakenEffect && { mayHaveTakenEffect: true }) }, limits.timeoutMs)
  }
}

export const ACCEPTED = 202
const STILL_OPEN: readonly string[] = ['WorkflowExecutionTimedOutError', 'WorkflowNotCompletedError']

/** Waits for the end of a run. Without a run id the response only says which run is the latest one. */
export function resultRequest(target: Target): WaitRequest {
  const { workflowId, runId, isPinned } = target
  const get = { method: 'GET', path: `${pathOf(target)}/result` }
  if (runId === undefined) return () => get
  // Prevents the service from waiting for a later run of the same id.
  const headers: Record<string, string> = isPinned
    ? {}
    : { 'Last-Event-ID': `${encodeURIComponent(workflowId)}/${runId}` }
  return waiting({ ...get, headers })
}

/** The request with the time that the service waits. */
export function waiting(request: HttpRequest): WaitRequest {
  return (waitMs) => ({ ...request, query: { wait: waitMs }, waitMs })
}

interface AcceptedRun extends Pick<OpenRun, 'workflowId' | 'runId'> {
  status?: Status | null | undefined
  problem?: OpenRun['problem'] | undefined
}

function acceptedRun({ workflowId, runId, status, problem }: AcceptedRun): OpenRun {
  return { workflowId, runId, ...(status && { workflowStatus: status }), ...(problem && { problem }) }
}

function openRun({ error, workflowId, runId, workflowStatus, problem }: PorticoError): OpenRun | null {
  if (!STILL_OPEN.includes(error) || workflowId === undefined || runId === undefined) return null
  return acceptedRun({ workflowId, runId, status: workflowStatus, problem })
}

/** The error about a run that was open after `timeoutMs`. */
export function timedOut(run: KnownRun, timeoutMs: number): PorticoError {
  const { workflowId = '(id unknown)', workflowStatus, problem } = run
  const state = workflowStatus === 'paused' ? ' and is paused' : ''
  // As in the message of the service.
  const reason = problem
    ? `; its workflow task is failing (attempt ${problem.attempt}); the worker reported: ${problem.message}`
    : ''
  const message = `Workflow ${workflowId} did not complete within ${timeoutMs} ms${state}${reason}`
  return new PorticoError('WorkflowExecutionTimedOutError', message, { status: null, ...run })
}
