/** What the clients of a soak want to do, whichever way they send it. */
import type { Answer, Operation, OperationName } from '../record.ts'

export interface Intent {
  op: OperationName
  workflowId: string
  /** Only this run. */
  runId?: string
  key?: string
  marker: string | null
  /** Of starts. */
  workflowName?: string
  input?: unknown
  conflictPolicy?: 'terminate-existing' | 'use-existing'
  /** Of `run`, over bare HTTP. */
  timeoutMs?: number
  /** Of `run`: does not wait for the end (`Prefer: respond-async`). */
  isAsync?: boolean
  /** Of messages. */
  handler?: string
  payload?: unknown
  /** The client disconnects after this. */
  leaveAfterMs?: number
}

/** The outcome. */
export type Performed = Pick<Operation, 'outcome' | 'answer'>

export type Send = (intent: Intent) => Promise<Performed>

// The responses to these say for certain that nothing was done.
const REJECTIONS = new Set([
  'ValidationError',
  'WorkflowNotFoundError',
  'HandlerNotFoundError',
  'CatalogNotFoundError',
  'WorkflowAlreadyStartedError',
  'WorkflowNotRunningError',
  'WorkflowNotReadyError',
  'WorkflowNotCompletedError',
  'StepNotFoundError',
  'StepNotCompletedError',
  'IdempotencyKeyReusedError',
  'UpdateFailedError',
  'UnsupportedWorkflowError',
  'CatalogNotAvailableError',
  'OverloadedError',
])

/** What errors have besides their name and message. */
export interface FailedRun {
  runId?: string
  updateId?: string
  mayHaveTakenEffect?: boolean
  isRepeatable?: boolean
}

/** What an error says about the operation. */
export function failed(
  { op }: Intent,
  error: string,
  message: string,
  { runId, updateId, mayHaveTakenEffect = false, isRepeatable = false }: FailedRun = {},
): Performed {
  // An update that a run has accepted is lost with the run: only then the response names the update.
  const isOpen = mayHaveTakenEffect || (error === 'WorkflowNotRunningError' && updateId !== undefined)
  const answer = {
    ...(runId !== undefined && { runId }),
    ...(updateId !== undefined && { updateId }),
    error: `${error}: ${message}`.slice(0, 300),
    ...(isRepeatable && { isRepeatable }),
  }
  // `run` has started its run, which has not ended yet.
  if (op === 'run' && error === 'WorkflowExecutionTimedOutError' && runId !== undefined)
    return { outcome: 'acknowledged', answer }
  return { outcome: REJECTIONS.has(error) && !isOpen ? 'rejected' : 'unknown', answer }
}

/** What a response says. `body` is that of the API. */
export function acknowledged({ op }: Intent, body: unknown, replayed: string | null = null): Performed {
  const fields: Fields = typeof body === 'object' && body !== null ? body : {}
  const { workflowId, runId, status, started, output, result } = fields
  const answer: Answer = {
    ...(typeof workflowId === 'string' && op !== 'update' && op !== 'query' && { workflowId }),
    ...(typeof runId === 'string' && { runId }),
    ...(replayed !== null && { replayed: replayed === 'true' }),
    ...(typeof started === 'boolean' && { started }),
    ...(op === 'stop' && { changed: fields.cancelRequested === true }),
    ...(ENDS.has(op) && typeof status === 'string' && { status }),
    ...((op === 'run' || op === 'result') && { output }),
    ...(op === 'update-with-start' && { output: result }),
    ...((op === 'update' || op === 'query') && { output: body }),
  }
  return { outcome: 'acknowledged', answer }
}

type Fields = Partial<
  Record<'workflowId' | 'runId' | 'status' | 'started' | 'output' | 'result' | 'cancelRequested', unknown>
>

// Responses whose `status` is that of a run as it is now.
const ENDS = new Set<OperationName>(['run', 'result', 'status'])
