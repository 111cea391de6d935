import type { RunRef } from '../domain/execution.ts'
import type { TraceEntry, TraceError } from '../protocol/trace-entry.ts'
import { revealed, toErrorCause } from './failure.ts'
import { fromArguments, type HistoryEvent, toClosing } from './outcome.ts'
import type { Payload, Payloads } from './payload.ts'
import { toEpochMs } from './time.ts'

/** Reads a run's history event by event, oldest first. */
export interface HistoryReader {
  /** What began or ended with this event: mostly one thing or none. */
  entriesOf(event: HistoryEvent): Promise<TraceEntry[]>
}

type Began = Pick<TraceEntry, 'id' | 'parentId' | 'kind' | 'name'>

export function createHistoryReader(run: RunRef, payloads: Payloads): HistoryReader {
  const root = run.runId
  /** What is open, by the id of the event that began it. */
  const open = new Map<string, Began>()
  const attempts = new Map<string, { attempts: number; lastFailure: TraceError | null }>()
  let workflowName = ''

  async function began(event: HistoryEvent, what: Omit<Began, 'parentId'>, input: Payload[] | null | undefined, attributes = {}) {
    const entry: Began = { ...what, id: `${root}:${what.id}`, parentId: root }
    open.set(String(event.eventId), entry)
    return [{ ...entry, at: timeOf(event), phase: 'began' as const, input: fromArguments(await payloads.decode(input)), attributes }]
  }

  function ended(event: HistoryEvent, beganWith: unknown, result: Partial<TraceEntry>): TraceEntry[] {
    const entry = open.get(String(beganWith))
    open.delete(String(beganWith))
    return entry === undefined ? [] : [{ ...entry, at: timeOf(event), phase: 'ended', ...result }]
  }

  const output = async (result: { payloads?: Payload[] | null } | null | undefined) => ({
    output: fromArguments(await payloads.decode(result?.payloads)),
  })
  const error = async (failure: Parameters<typeof revealed>[0] | null | undefined) => ({
    error: toErrorCause(await revealed(failure ?? {}, payloads)),
  })

  async function workflow(event: HistoryEvent): Promise<TraceEntry[] | null> {
    const at = timeOf(event)
    const started = event.workflowExecutionStartedEventAttributes
    if (started) {
      workflowName = started.workflowType?.name ?? ''
      const input = fromArguments(await payloads.decode(started.input?.payloads))
      return [
        {
          id: root,
          parentId: null,
          kind: 'workflow',
          name: workflowName,
          at,
          phase: 'began',
          input,
          attributes: { workflowId: run.workflowId, runId: run.runId },
        },
      ]
    }
    const closing = await toClosing([event], payloads)
    if (closing === null) return null
    const { outcome, nextRunId } = closing
    const attributes = { status: outcome.status, ...(nextRunId === null ? {} : { nextRunId }) }
    const base = { id: root, parentId: null, kind: 'workflow', name: workflowName, at, phase: 'ended' as const, attributes }
    if (outcome.status === 'completed') return [{ ...base, output: outcome.output }]
    if (outcome.status === 'continued') return [base]
    const { name, message, cause } = outcome.error
    return [{ ...base, error: { name, message, cause } }]
  }

  async function step(event: HistoryEvent): Promise<TraceEntry[] | null> {
    const scheduled = event.activityTaskScheduledEventAttributes
    if (scheduled) {
      const { activityId, activityType, input } = scheduled
      return began(event, { id: `step:${activityId}`, kind: 'step', name: activityType?.name ?? '' }, input?.payloads)
    }
    const begun = event.activityTaskStartedEventAttributes
    if (begun) {
      const lastFailure = begun.lastFailure ? toErrorCause(await revealed(begun.lastFailure, payloads)) : null
      attempts.set(String(begun.scheduledEventId), { attempts: begun.attempt ?? 1, lastFailure })
      return []
    }
    const completed = event.activityTaskCompletedEventAttributes
    const failed = event.activityTaskFailedEventAttributes ?? event.activityTaskTimedOutEventAttributes
    const canceled = event.activityTaskCanceledEventAttributes
    const end = completed ?? failed ?? canceled
    if (!end) return null
    const result = completed ? await output(completed.result) : failed ? await error(failed.failure) : canceledError()
    const { attempts: count = 1, lastFailure = null } = attempts.get(String(end.scheduledEventId)) ?? {}
    return ended(event, end.scheduledEventId, {
      ...result,
      attributes: { attempts: count, ...(lastFailure === null ? {} : { lastFailure }) },
    })
  }

  async function timer(event: HistoryEvent): Promise<TraceEntry[] | null> {
    const started = event.timerStartedEventAttributes
    if (started) {
      const durationMs =
        Number(started.startToFireTimeout?.seconds ?? 0) * 1000 + Math.floor((started.startToFireTimeout?.nanos ?? 0) / 1e6)
      return began(event, { id: `timer:${started.timerId}`, kind: 'timer', name: started.timerId ?? '' }, null, { durationMs })
    }
    const fired = event.timerFiredEventAttributes
    if (fired) return ended(event, fired.startedEventId, {})
    const canceled = event.timerCanceledEventAttributes
    return canceled ? ended(event, canceled.startedEventId, canceledError()) : null
  }

  async function message(event: HistoryEvent): Promise<TraceEntry[] | null> {
    const signaled = event.workflowExecutionSignaledEventAttributes
    if (signaled) {
      const what = { id: `signal:${event.eventId}`, kind: 'signal', name: signaled.signalName ?? '' }
      return [...(await began(event, what, signaled.input?.payloads)), ...ended(event, event.eventId, {})]
    }
    const accepted = event.workflowExecutionUpdateAcceptedEventAttributes
    if (accepted) {
      const { input, meta } = accepted.acceptedRequest ?? {}
      const what = { id: `update:${meta?.updateId}`, kind: 'update', name: input?.name ?? '' }
      return began(event, what, input?.args?.payloads, { updateId: meta?.updateId })
    }
    const updated = event.workflowExecutionUpdateCompletedEventAttributes
    if (!updated) return null
    const { success, failure } = updated.outcome ?? {}
    return ended(event, updated.acceptedEventId, failure ? await error(failure) : await output(success))
  }

  async function child(event: HistoryEvent): Promise<TraceEntry[] | null> {
    const initiated = event.startChildWorkflowExecutionInitiatedEventAttributes
    if (initiated) {
      const { workflowId, workflowType, input } = initiated
      const what = { id: `child:${event.eventId}`, kind: 'child_workflow', name: workflowType?.name ?? '' }
      return began(event, what, input?.payloads, { workflowId })
    }
    const started = event.childWorkflowExecutionStartedEventAttributes
    if (started) {
      const entry = open.get(String(started.initiatedEventId))
      const attributes = { runId: started.workflowExecution?.runId }
      return entry === undefined ? [] : [{ ...entry, at: timeOf(event), phase: 'began', attributes }]
    }
    const completed = event.childWorkflowExecutionCompletedEventAttributes
    if (completed) return ended(event, completed.initiatedEventId, await output(completed.result))
    const failed = event.childWorkflowExecutionFailedEventAttributes
    if (failed) return ended(event, failed.initiatedEventId, await error(failed.failure))
    const unstarted = event.startChildWorkflowExecutionFailedEventAttributes
    if (unstarted)
      return ended(event, unstarted.initiatedEventId, named('ChildWorkflowNotStarted', 'The child workflow could not be started'))
    const canceled = event.childWorkflowExecutionCanceledEventAttributes
    if (canceled) return ended(event, canceled.initiatedEventId, canceledError())
    const timedOut = event.childWorkflowExecutionTimedOutEventAttributes
    if (timedOut) return ended(event, timedOut.initiatedEventId, named('TimeoutFailure', 'The child workflow timed out'))
    const terminated = event.childWorkflowExecutionTerminatedEventAttributes
    return terminated ? ended(event, terminated.initiatedEventId, named('TerminatedFailure', 'The child workflow was terminated')) : null
  }

  return {
    async entriesOf(event) {
      return (await step(event)) ?? (await timer(event)) ?? (await message(event)) ?? (await child(event)) ?? (await workflow(event)) ?? []
    },
  }
}

function timeOf(event: HistoryEvent): number {
  return toEpochMs(event.eventTime) ?? 0
}

function canceledError(): Pick<TraceEntry, 'error'> {
  return named('CanceledFailure', 'canceled')
}

function named(name: string, message: string): Required<Pick<TraceEntry, 'error'>> {
  return { error: { name, message, cause: null } }
}
