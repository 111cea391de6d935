/** Starts, alone and together with a message: policies, request ids, and which run they reach. */
import { RpcError } from '../../../src/service/engine/transport/transport.ts'
import { isOpen, type Payloads, type Run, STATUS } from './run.ts'
import { CODE, type Runs, rpcError } from './runs.ts'

export interface StartRequest {
  workflowId?: string | null
  workflowType?: { name?: string | null } | null
  taskQueue?: { name?: string | null } | null
  input?: Payloads | null
  memo?: object | null
  requestId?: string | null
  workflowIdConflictPolicy?: number | null
  workflowIdReusePolicy?: number | null
}

export interface Started {
  runId: string
  firstExecutionRunId: string
  status: number
  started: boolean
}

const CONFLICT = { fail: 1, useExisting: 2, terminateExisting: 3 } as const
const REUSE = { allow: 1, allowFailed: 2, reject: 3 } as const

/**
 * Starts a run, or finds the one that the policies name. A start on its own is recognized by its request id even when
 * its run has closed; one with a message only while it is open.
 */
export function start(runs: Runs, request: StartRequest, { recognizesClosed = true } = {}): Started {
  const { workflowId, requestId } = request
  const current = runs.latestOf(workflowId ?? '')
  if (current?.requestIds.has(requestId ?? '') && (recognizesClosed || isOpen(current))) return startedOf(current, true)
  if (current !== undefined && isOpen(current)) {
    const policy = request.workflowIdConflictPolicy || CONFLICT.fail
    if (policy === CONFLICT.fail) throw exists(current, 'Workflow execution is already running')
    if (policy === CONFLICT.useExisting) return startedOf(current, false)
    runs.terminate(current, 'TerminateIfRunning WorkflowIdReusePolicy', 'history-service')
  } else if (current !== undefined && !mayReuse(current, request.workflowIdReusePolicy)) {
    throw exists(current, 'Workflow execution already finished')
  }
  return startedOf(create(runs, request), true)
}

/** Whether the policy allows a run after this closed one. */
function mayReuse({ status }: Run, policy: number | null | undefined): boolean {
  if (policy === REUSE.reject) return false
  return policy !== REUSE.allowFailed || (status !== STATUS.completed && status !== STATUS.continued)
}

function create(runs: Runs, { workflowId, workflowType, taskQueue, input, memo, requestId }: StartRequest): Run {
  const runId = runs.newRunId()
  return runs.create({
    workflowId: workflowId ?? '',
    runId,
    firstRunId: runId,
    continuedFrom: '',
    type: workflowType?.name ?? '',
    taskQueue: taskQueue?.name ?? '',
    input: input ?? null,
    memo: memo ?? {},
    startRequestId: requestId ?? '',
  })
}

function startedOf({ runId, firstRunId, status }: Run, started: boolean): Started {
  return { runId, firstExecutionRunId: firstRunId, status, started }
}

function exists({ startRequestId, runId, workflowId }: Run, message: string): RpcError {
  const fields = { startRequestId, runId }
  return rpcError(CODE.exists, `${message}. WorkflowId: ${workflowId}`, {
    name: 'WorkflowExecutionAlreadyStartedFailure',
    fields,
  })
}

/** The run for a signal-with-start. An open run is never started, even if this request has started it. */
export function startForSignal(runs: Runs, request: StartRequest): Started {
  const current = runs.latestOf(request.workflowId ?? '')
  if (current !== undefined && isOpen(current)) return startedOf(current, false)
  return start(runs, request, { recognizesClosed: false })
}

/** The first half of an update-with-start. A repeated request finds the run that it has started. */
export function startForUpdate(runs: Runs, request: StartRequest, updateId: string): Started {
  const current = runs.latestOf(request.workflowId ?? '')
  // Whatever the policy is. A closed run that has completed the update returns its outcome.
  const known = current?.updates.get(updateId)
  if (current !== undefined && known !== undefined && (isOpen(current) || known.stage === 3))
    return startedOf(current, false)
  const isKnown = current?.requestIds.has(request.requestId ?? '') === true
  // The engine recognizes the start, and then has no run that it could update.
  if (isKnown && !isOpen(current)) throw rpcError(CODE.unavailable, 'The run has closed')
  const started = start(runs, request)
  return isKnown ? { ...started, started: false } : started
}

const ABORTED = {
  code: CODE.aborted,
  message: 'Operation was aborted.',
  details: [{ name: 'MultiOperationExecutionAborted', fields: {} }],
}
const OK = { code: 0, message: '', details: [] }

/** The error of an update-with-start: which of its two halves failed. */
export function multiOperationError(half: 'start' | 'update', cause: unknown): unknown {
  if (!(cause instanceof RpcError)) return cause
  const { code, message, details } = cause
  const failed = { code, message, details }
  const statuses = half === 'start' ? [failed, ABORTED] : [OK, failed]
  return rpcError(code, 'Update-with-Start could not be executed.', {
    name: 'MultiOperationExecutionFailure',
    fields: { statuses },
  })
}
