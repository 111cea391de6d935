import type { TemporalEvent } from '../outcome.ts'
import { type EventTable, eventTime, type HistoryState } from './history-state.ts'
import type { UnresolvedEntry } from './unresolved-entry.ts'

/** The run itself, from its start to its one close event. */
export const workflowEvents: EventTable = {
  workflowExecutionStartedEventAttributes(started, event, state) {
    const { workflowId, runId } = state.run
    state.workflowName = started.workflowType?.name ?? ''
    const attributes = {
      workflowId,
      runId,
      ...(started.continuedExecutionRunId && { previousRunId: started.continuedExecutionRunId }),
    }
    return [
      {
        ...workflowNode(state),
        at: eventTime(event),
        phase: 'began',
        input: started.input?.payloads ?? null,
        attributes,
      },
    ]
  },

  workflowExecutionCancelRequestedEventAttributes(_attributes, event, state) {
    state.cancelRequested = event
    return []
  },

  workflowExecutionCompletedEventAttributes: closed,
  workflowExecutionFailedEventAttributes: closed,
  workflowExecutionTimedOutEventAttributes: closed,
  workflowExecutionCanceledEventAttributes: closed,
  workflowExecutionTerminatedEventAttributes: closed,
  workflowExecutionContinuedAsNewEventAttributes: closed,
}

function closed(_attributes: unknown, event: TemporalEvent, state: HistoryState): UnresolvedEntry[] {
  const at = eventTime(event)
  // Activities that are still open end with their run.
  const abandoned = [...state.open.values()].filter(({ kind }) => kind === 'step')
  // The reason for a cancellation is in its request.
  const closing = state.cancelRequested === null ? [event] : [state.cancelRequested, event]
  return [
    ...abandoned.map((step): UnresolvedEntry => ({ ...step, at, phase: 'ended', attributes: { abandoned: true } })),
    { ...workflowNode(state), at, phase: 'ended', closing },
  ]
}

export function workflowNode({ run, workflowName }: HistoryState) {
  return { id: run.runId, parentId: null, kind: 'workflow', name: workflowName }
}
