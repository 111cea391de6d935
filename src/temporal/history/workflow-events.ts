import type { HistoryEvent } from '../outcome.ts'
import { type EventTable, type Story, timeOf } from './history-state.ts'
import type { Draft } from './unresolved-entry.ts'

/** The run itself, from its start to its one close event. */
export const workflowEvents: EventTable = {
  workflowExecutionStartedEventAttributes(told, event, story) {
    const { workflowId, runId } = story.run
    story.workflowName = told.workflowType?.name ?? ''
    const attributes = {
      workflowId,
      runId,
      ...(told.continuedExecutionRunId && { previousRunId: told.continuedExecutionRunId }),
    }
    return [{ ...workflow(story), at: timeOf(event), phase: 'began', input: told.input?.payloads ?? null, attributes }]
  },

  workflowExecutionCancelRequestedEventAttributes(_told, event, story) {
    story.cancelRequested = event
    return []
  },

  workflowExecutionCompletedEventAttributes: closed,
  workflowExecutionFailedEventAttributes: closed,
  workflowExecutionTimedOutEventAttributes: closed,
  workflowExecutionCanceledEventAttributes: closed,
  workflowExecutionTerminatedEventAttributes: closed,
  workflowExecutionContinuedAsNewEventAttributes: closed,
}

function closed(_told: unknown, event: HistoryEvent, story: Story): Draft[] {
  const at = timeOf(event)
  // Activities whose worker never answered: they are over with their run.
  const abandoned = [...story.open.values()].filter(({ kind }) => kind === 'step')
  // The reason of a cancellation stands in its request.
  const closing = story.cancelRequested === null ? [event] : [story.cancelRequested, event]
  return [
    ...abandoned.map((step): Draft => ({ ...step, at, phase: 'ended', attributes: { abandoned: true } })),
    { ...workflow(story), at, phase: 'ended', closing },
  ]
}

export function workflow({ run, workflowName }: Story) {
  return { id: run.runId, parentId: null, kind: 'workflow', name: workflowName }
}
