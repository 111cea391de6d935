/** Waits for the end of a run with requests that each wait for a limited time: docs/decisions/042-waits-of-the-client.md */
import { sleep } from '../lib/abort.ts'
import type { CallOptions } from './client.ts'
import type { Connection, HttpRequest, Limits } from './connection/connection.ts'
import { PorticoError, type PorticoErrorFacts, withFacts } from './portico-error.ts'
import type { RunRef, Status, WorkflowResult } from './responses.ts'
import { pathOf, type Target } from './target.ts'

export type WaitRequest = (waitMs: number) => HttpRequest

/** What is known about an open run. */
type OpenRun = Partial<RunRef> & Pick<PorticoErrorFacts, 'idempotencyKey' | 'workflowStatus' | 'problem'>

/** Sends `first`, and then waits for the run that its response names. All errors have the ids that are `known`. */
export async function untilEnded(
  connection: Connection,
  first: WaitRequest,
  { isPinned = false, ...known }: OpenRun & { isPinned?: boolean },
  { signal, timeoutMs = Number.POSITIVE_INFINITY }: CallOptions,
): Promise<WorkflowResult> {
  const limits = { signal, deadlineAt: Date.now() + timeoutMs }
  let request = first
  let run = known
  while (true) {
    const startedAt = Date.now()
    const response = await waitOnce(connection, request, run, limits)
    if ('result' in response) return response.result
    run = { ...run, ...response.open }
    const { workflowId, runId } = run
    if (workflowId === undefined || runId === undefined || Date.now() >= limits.deadlineAt)
      throw timedOut(run, timeoutMs)
    // A service that shuts down does not wait.
    await sleep(Math.max(0, startedAt + response.intervalMs - Date.now()), signal)
    signal?.throwIfAborted()
    request = resultRequest({ workflowId, runId, isPinned })
  }
}

/** `intervalMs`: how long after this request the next one may follow. */
async function waitOnce(
  { sendWaiting }: Connection,
  request: WaitRequest,
  run: OpenRun,
  limits: Limits,
): Promise<{ result: WorkflowResult } | { open: OpenRun; intervalMs: number }> {
  try {
    const { status, body } = await sendWaiting(request, limits)
    if (status !== ACCEPTED) return { result: body as WorkflowResult }
    return { open: acceptedRun(body as AcceptedRun), intervalMs: 0 }
  } catch (error) {
    if (!(error instanceof PorticoError)) throw error
    const isOver = error.error === 'ConnectionError' && Date.now() >= limits.deadlineAt
    if (!isOver && !STILL_OPEN.includes(error.error)) throw withFacts(error, run)
    return { open: openRun(error), intervalMs: error.retryAfterMs ?? 0 }
  }
}

const ACCEPTED = 202
const STILL_OPEN: readonly string[] = ['WorkflowExecutionTimedOutError', 'WorkflowNotCompletedError']

/** Waits for the end of a run. Without a run id the response only says which run is the latest one. */
export function resultRequest(target: Target): WaitRequest {
  const { workflowId, runId, isPinned } = target
  const get = { method: 'GET', path: `${pathOf(target)}/result`, isRepeatable: true }
  if (runId === undefined) return () => get
  // So that a later run of the same id is not taken for this one.
  const headers: Record<string, string> = isPinned
    ? {}
    : { 'Last-Event-ID': `${encodeURIComponent(workflowId)}/${runId}` }
  return (waitMs) => ({ ...get, query: { wait: waitMs }, headers, waitMs })
}

interface AcceptedRun extends RunRef {
  status: Status | null
  problem?: NonNullable<PorticoErrorFacts['problem']>
}

function acceptedRun({ workflowId, runId, status, problem }: AcceptedRun): OpenRun {
  return { workflowId, runId, ...(status && { workflowStatus: status }), ...(problem && { problem }) }
}

function openRun({ workflowId, runId, workflowStatus, problem }: PorticoError): OpenRun {
  return {
    ...(workflowId !== undefined && { workflowId }),
    ...(runId !== undefined && { runId }),
    ...(workflowStatus && { workflowStatus }),
    ...(problem && { problem }),
  }
}

function timedOut(run: OpenRun, timeoutMs: number): PorticoError {
  const message = `Workflow ${run.workflowId ?? '(id unknown)'} did not complete within ${timeoutMs} ms`
  return new PorticoError('WorkflowExecutionTimedOutError', message, { status: null, ...run })
}
