/** Signals, queries and updates of the model. */
import type { RpcError } from '../../../src/service/engine/transport/transport.ts'
import {
  EVENT,
  type HistoryEvent,
  isOpen,
  type Payloads,
  type Run,
  toPayload,
  type Update,
  type WorkerModel,
} from './run.ts'
import { alreadyCompleted, CODE, type Execution, notFound, type Runs, rpcError } from './runs.ts'
import type { Work } from './work.ts'

export interface SignalRequest {
  workflowExecution?: Execution | null
  signalName?: string | null
  input?: Payloads | null
  requestId?: string | null
}

/** A request id that the run knows has no effect, also after the run has closed. */
export function signal(runs: Runs, { workflowExecution, signalName, input, requestId }: SignalRequest): object {
  const run = runs.find(workflowExecution)
  const id = requestId ?? ''
  const link = { link: { workflowEvent: { workflowId: run.workflowId, runId: run.runId } } }
  if (run.signalIds.has(id)) return link
  if (!isOpen(run)) throw alreadyCompleted()
  if (id !== '') run.signalIds.add(id)
  const attributes = { signalName, input: input ?? null, requestId: id }
  runs.record(run, EVENT.signaled, { workflowExecutionSignaledEventAttributes: attributes })
  return link
}

export interface QueryRequest {
  execution?: Execution | null
  query?: { queryType?: string | null } | null
}

export function query(runs: Runs, worker: WorkerModel, { execution, query: asked }: QueryRequest): object {
  const name = asked?.queryType ?? ''
  const run = runs.find(execution)
  if (!isOpen(run) && !run.events.some(({ eventType }) => eventType === EVENT.taskCompleted)) throw closedBeforeTask()
  const value = worker.query(run, name)
  if (value === undefined)
    throw rpcError(CODE.invalid, `Workflow did not register a handler for ${name}`, { name: 'QueryFailedFailure' })
  return { queryResult: { payloads: [toPayload(value)] } }
}

function closedBeforeTask(): RpcError {
  const message = 'Workflow execution closed before WorkflowTaskStarted event'
  return rpcError(CODE.precondition, message, { name: 'WorkflowNotReadyFailure' })
}

export interface UpdateRequest {
  workflowExecution?: Execution | null
  request?: {
    meta?: { updateId?: string | null } | null
    input?: { name?: string | null; args?: Payloads | null } | null
  } | null
  waitPolicy?: { lifecycleStage?: number | null } | null
}

export interface PollUpdateRequest {
  updateRef?: { workflowExecution?: Execution | null; updateId?: string | null } | null
  waitPolicy?: { lifecycleStage?: number | null } | null
}

export interface Updates {
  send(request: UpdateRequest, signal: AbortSignal): Promise<object>
  poll(request: PollUpdateRequest, signal: AbortSignal): Promise<object>
}

export function createUpdates(runs: Runs, work: Work): Updates {
  function admit(run: Run, { request }: UpdateRequest): Update {
    const id = request?.meta?.updateId ?? ''
    const known = run.updates.get(id)
    if (known !== undefined) return known
    if (!isOpen(run)) throw alreadyCompleted()
    const update: Update = {
      id,
      name: request?.input?.name ?? '',
      args: request?.input?.args ?? null,
      stage: 1,
      outcome: null,
    }
    run.updates.set(id, update)
    work.schedule(run)
    return update
  }

  /** What has become of the update when it has reached the stage, or the run has closed. */
  async function stateOf(run: Run, update: Update, stage: number, signal: AbortSignal): Promise<object> {
    await runs.hold(run, () => update.stage >= stage || !isOpen(run), signal)
    if (!isOpen(run) && update.stage === 1) {
      run.updates.delete(update.id)
      throw alreadyCompleted()
    }
    const workflowExecution = { workflowId: run.workflowId, runId: run.runId }
    return { updateRef: { workflowExecution, updateId: update.id }, outcome: update.outcome, stage: update.stage }
  }

  return {
    send(request, signal) {
      const run = runs.find(request.workflowExecution)
      return stateOf(run, admit(run, request), request.waitPolicy?.lifecycleStage ?? 0, signal)
    },
    poll({ updateRef, waitPolicy }, signal) {
      const run = runs.find(updateRef?.workflowExecution)
      const update = run.updates.get(updateRef?.updateId ?? '')
      if (update === undefined) throw notFound(`update "${updateRef?.updateId}" not found`)
      return stateOf(run, update, waitPolicy?.lifecycleStage ?? 0, signal)
    },
  }
}

export type { HistoryEvent }
