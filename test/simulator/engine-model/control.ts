/** What ends, interrupts and repeats runs: cancel, terminate, pause, reset. */
import { EVENT, type HistoryEvent, isOpen, type Run, STATUS, type Update } from './run.ts'
import { CODE, type Execution, notFound, type Runs, rpcError } from './runs.ts'

export interface ControlRequest {
  workflowExecution?: Execution | null
  reason?: string | null
  identity?: string | null
}

export function terminate(runs: Runs, { workflowExecution, reason, identity }: ControlRequest): object {
  runs.terminate(runs.findOpen(workflowExecution), reason ?? '', identity ?? '')
  return {}
}

/** Requesting it again, or for a closed run, has no effect. */
export function requestCancel(runs: Runs, request: ControlRequest & { firstExecutionRunId?: string | null }): object {
  const { workflowExecution, reason, firstExecutionRunId } = request
  const run = runs.find(workflowExecution)
  if (firstExecutionRunId && run.firstRunId !== firstExecutionRunId) throw notFound('workflow execution not found')
  if (run.isCancelRequested || !isOpen(run)) return {}
  run.isCancelRequested = true
  const attributes = { cause: reason ?? '' }
  runs.record(run, EVENT.cancelRequested, { workflowExecutionCancelRequestedEventAttributes: attributes })
  return {}
}

export interface ResetRequest extends ControlRequest {
  requestId?: string | null
  workflowTaskFinishEventId?: unknown
}

const RESET_WORKFLOW = 20

/** The end of a workflow task, or its start, which the new run has as well. */
const RESET_POINTS: ReadonlySet<number> = new Set([EVENT.taskStarted, EVENT.taskCompleted, EVENT.taskFailed])

/** Each reset makes another run, which is the latest of its id. Messages after the point reach it again. */
export function reset(runs: Runs, request: ResetRequest): object {
  const base = runs.find(request.workflowExecution)
  const at = Number(request.workflowTaskFinishEventId)
  const point = base.events.find(({ eventId }) => eventId === at)
  if (point === undefined || !RESET_POINTS.has(point.eventType))
    throw rpcError(CODE.invalid, 'workflow task finish event ID must be the ID of the end of a workflow task')
  const current = runs.latestOf(base.workflowId)
  if (current !== undefined && current.startRequestId === request.requestId) return { runId: current.runId }
  if (current !== undefined && isOpen(current)) runs.terminate(current, request.reason ?? '', 'history-resetter')
  const created = runs.createFrom(base, base.events.slice(0, at - 1))
  base.resetRunId = created.runId
  if (point.eventType === EVENT.taskStarted)
    runs.record(created, EVENT.taskStarted, { workflowTaskStartedEventAttributes: { scheduledEventId: at - 1 } })
  const ids = { baseRunId: base.runId, newRunId: created.runId }
  const attributes = { cause: RESET_WORKFLOW, ...ids, failure: { message: request.reason ?? '' } }
  runs.record(created, EVENT.taskFailed, { workflowTaskFailedEventAttributes: attributes })
  for (const event of messagesAfter(runs, base, at)) repeatMessage(runs, created, event)
  return { runId: created.runId }
}

/** Those of the runs that continue this one as new, too. */
function messagesAfter(runs: Pick<Runs, 'all'>, base: Run, at: number): readonly MessageEvent[] {
  const events: readonly MessageEvent[] = base.events.slice(at)
  const nextId = events.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId
  const next = nextId === undefined ? undefined : runs.all.get(nextId)
  return next === undefined ? events : [...events, ...messagesAfter(runs, next, 0)]
}

/** How many updates a reset to this event carries out again, maybe in another order. */
export function updatesAfter(all: Runs['all'], base: Run, at: number): number {
  return new Set(messagesAfter({ all }, base, at).flatMap((event) => requestIn(event)?.meta.updateId ?? [])).size
}

/** An update that was accepted is admitted again, and carried out again. */
function repeatMessage(runs: Runs, created: Run, event: MessageEvent): void {
  const { eventType, eventId: _, eventTime: __, ...attributes } = event
  if (eventType === EVENT.signaled) runs.record(created, eventType, attributes)
  const request = requestIn(event)
  if (request === undefined || created.updates.has(request.meta.updateId)) return
  const { meta, input } = request
  created.updates.set(meta.updateId, { id: meta.updateId, ...input, stage: 1, outcome: null })
  runs.record(created, EVENT.updateAdmitted, { workflowExecutionUpdateAdmittedEventAttributes: { request } })
}

function requestIn(event: MessageEvent): UpdateRequest | undefined {
  const { workflowExecutionUpdateAdmittedEventAttributes: admitted } = event
  return admitted?.request ?? event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest
}

interface UpdateRequest {
  meta: { updateId: string }
  input: Pick<Update, 'args' | 'name'>
}

interface MessageEvent extends HistoryEvent {
  workflowExecutionUpdateAdmittedEventAttributes?: { request: UpdateRequest }
  workflowExecutionUpdateAcceptedEventAttributes?: { acceptedRequest: UpdateRequest }
  workflowExecutionContinuedAsNewEventAttributes?: { newExecutionRunId: string }
}

export function pause(runs: Runs, { workflowExecution, reason }: ControlRequest): object {
  const run = runs.findOpen(workflowExecution)
  if (run.status === STATUS.paused) throw rpcError(CODE.precondition, 'workflow is already paused.')
  run.status = STATUS.paused
  runs.record(run, EVENT.paused, { workflowExecutionPausedEventAttributes: { reason: reason ?? '' } })
  return {}
}

export function unpause(runs: Runs, { workflowExecution, reason }: ControlRequest): object {
  const run = runs.findOpen(workflowExecution)
  if (run.status !== STATUS.paused) throw rpcError(CODE.precondition, 'workflow is not paused.')
  run.status = STATUS.running
  runs.record(run, EVENT.unpaused, { workflowExecutionUnpausedEventAttributes: { reason: reason ?? '' } })
  return {}
}
