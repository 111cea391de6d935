/**
 * Waits for the end of a run with requests that each wait for a limited time: docs/decisions/042-waits-of-the-client.md
 */
import { sleep } from '../shared/lib/abort.ts'
import type { Connection } from './connection/connection.ts'
import type { CallOptions } from './connection/options.ts'
import type { HttpRequest, RequestLimits } from './connection/request.ts'
import { isNoResponse } from './connection/retry-delay.ts'
import { PorticoError, type PorticoErrorFacts, withFacts } from './portico-error.ts'
import type { OpenActivity, OpenRun, Status } from './responses.ts'
import { type ActivityTarget, pathOf, type Target } from './target.ts'

export type WaitRequest = (waitMs: number) => HttpRequest

/** Of a workflow, or of an activity without one. */
export type Kind = 'activity' | 'workflow'

type Open = OpenActivity | OpenRun

/** The facts of errors about the wait. Status and problem are those of the last response. */
type KnownRun = Partial<OpenActivity & OpenRun> & Pick<PorticoErrorFacts, 'idempotencyKey' | 'mayHaveTakenEffect'>

/** `onOpen` gets the run that it is about. */
export type WaitOptions = CallOptions & { onOpen?: ((run: OpenActivity & OpenRun) => void) | undefined }

export function titleOf(kind: Kind): 'Activity' | 'Workflow' {
  return kind === 'activity' ? 'Activity' : 'Workflow'
}

/** Sends `first`, and then waits for the run that its response names. All errors have the ids that are `known`. */
export async function untilEnded<Result>(
  connection: Connection,
  first: WaitRequest,
  { kind, isPinned = false, ...known }: KnownRun & { kind: Kind; isPinned?: boolean },
  { signal, timeoutMs = Number.POSITIVE_INFINITY, onOpen }: WaitOptions = {},
): Promise<Result> {
  const limits = { signal, timeoutMs, deadlineAt: Date.now() + timeoutMs }
  let request = first
  let run: KnownRun = known
  while (true) {
    const startedAt = Date.now()
    const response = await waitOnce<Result>(connection, kind, request, run, limits)
    if ('result' in response) return response.result
    // Status and problem may have changed since the last response.
    const { workflowStatus: _status, activityStatus: _activity, problem: _problem, ...ids } = run
    run = { ...ids, ...response.open }
    onOpen?.(response.open as OpenActivity & OpenRun)
    if (Date.now() >= limits.deadlineAt) throw timedOut(kind, run, timeoutMs)
    // A service that shuts down responds at once.
    await sleep(Math.max(0, startedAt + response.intervalMs - Date.now()), signal)
    signal?.throwIfAborted()
    request = resultRequest({ ...response.open, isPinned: isPinned || kind === 'activity' })
  }
}

/** `intervalMs`: how long after this request the next one may follow. */
async function waitOnce<Result>(
  { sendWaiting }: Connection,
  kind: Kind,
  request: WaitRequest,
  run: KnownRun,
  limits: RequestLimits,
): Promise<{ result: Result } | { open: Open; intervalMs: number }> {
  try {
    const { status, body } = await sendWaiting(request, limits)
    if (status !== ACCEPTED) return { result: body as Result }
    const accepted = body as PorticoErrorFacts & { status: Status | null }
    return { open: openRun(kind, accepted, accepted.status), intervalMs: 0 }
  } catch (error) {
    if (!(error instanceof PorticoError)) throw error
    if (STILL_OPEN.test(error.error) && error.runId !== undefined)
      return { open: openRun(kind, error), intervalMs: error.retryAfterMs ?? 0 }
    // If a connection is lost when the time is over, it is more useful to report the open run.
    const isLost = error.error === 'ConnectionError' && run.runId !== undefined && Date.now() >= limits.deadlineAt
    if (!isLost && !isNoResponse(error)) throw withFacts(error, run)
    throw timedOut(kind, { ...run, ...(error.mayHaveTakenEffect && { mayHaveTakenEffect: true }) }, limits.timeoutMs)
  }
}

export const ACCEPTED = 202
const STILL_OPEN = /(ExecutionTimedOut|NotCompleted)Error$/

/** Waits for the end of a run. Without a run id the response only says which run is the latest one. */
export function resultRequest(target: ActivityTarget | Target): WaitRequest {
  const { runId, isPinned } = target
  const get = { method: 'GET', path: `${pathOf(target)}/result` }
  if (runId === undefined) return () => get
  // Prevents the service from waiting for a later run of the same id.
  const headers: Record<string, string> = isPinned
    ? {}
    : { 'Last-Event-ID': `${encodeURIComponent((target as Target).workflowId)}/${runId}` }
  return waiting({ ...get, headers })
}

/** The request with the time that the service waits. */
export function waiting(request: HttpRequest): WaitRequest {
  return (waitMs) => ({ ...request, query: { wait: waitMs }, waitMs })
}

/** The run that a response names, with a status whose field has another name than in the client. */
function openRun(
  kind: Kind,
  { runId, problem, ...named }: Partial<PorticoErrorFacts>,
  status: Status | null | undefined = named[`${kind}Status`],
): Open {
  const id = `${kind}Id` as const
  const ids = { [id]: named[id], runId }
  return { ...ids, ...(status && { [`${kind}Status`]: status }), ...(problem && { problem }) } as unknown as Open
}

/** The error about a run that was open after `timeoutMs`. */
function timedOut(kind: Kind, run: KnownRun, timeoutMs: number): PorticoError {
  const { workflowId, activityId, workflowStatus, problem } = run
  const title = titleOf(kind)
  const state = workflowStatus === 'paused' ? ' and is paused' : ''
  // As in the message of the service.
  const reason = problem
    ? `; its workflow task is failing (attempt ${problem.attempt}); the worker reported: ${problem.message}`
    : ''
  const message = `${title} ${workflowId ?? activityId ?? '(id unknown)'} did not complete within ${timeoutMs} ms${state}${reason}`
  return new PorticoError(`${title}ExecutionTimedOutError`, message, { status: null, ...run })
}
