import { stepId } from '../../protocol/trace/keys.ts'
import type { HistoryEvent } from '../outcome.ts'
import { began, CANCELED, type EventTable, ended, idOf, type Story, timeOf } from './history-state.ts'
import type { Draft } from './unresolved-entry.ts'

/** Activities: all attempts are one step. The engine tells of a start only when the attempt that it began has ended. */
export const stepEvents: EventTable = {
  activityTaskScheduledEventAttributes({ activityId, activityType, input }, event, story) {
    const what = { id: idOfStep(story, activityId ?? '', event), kind: 'step', name: activityType?.name }
    return began(story, event, what, { input: input?.payloads ?? null, attributes: { activityId } })
  },

  activityTaskStartedEventAttributes({ scheduledEventId, attempt, lastFailure }, event, { attempts, open }) {
    const scheduledAt = open.get(String(scheduledEventId))?.at
    // How long later attempts waited in the queue is not in a history: it has no backoffs.
    const queueMs = attempt === 1 && scheduledAt !== undefined ? Math.max(0, timeOf(event) - scheduledAt) : null
    attempts.set(String(scheduledEventId), { attempts: attempt ?? 1, queueMs, lastFailure: lastFailure ?? null })
    return []
  },

  activityTaskCancelRequestedEventAttributes({ scheduledEventId }, _event, { open }) {
    const what = open.get(String(scheduledEventId))
    return what === undefined ? [] : [{ ...what, phase: 'began', attributes: { cancelRequested: true } }]
  },

  activityTaskCompletedEventAttributes: ({ scheduledEventId, result }, event, story) =>
    stepEnded(story, event, scheduledEventId, { output: result?.payloads ?? null }),
  activityTaskFailedEventAttributes: ({ scheduledEventId, failure }, event, story) =>
    stepEnded(story, event, scheduledEventId, { failure: failure ?? null }),
  activityTaskTimedOutEventAttributes: ({ scheduledEventId, failure }, event, story) =>
    stepEnded(story, event, scheduledEventId, { failure: failure ?? null }),
  activityTaskCanceledEventAttributes: ({ scheduledEventId }, event, story) =>
    stepEnded(story, event, scheduledEventId, CANCELED),
}

/** An activity's own id, for its worker knows no other; once that has been used before in this run, the id of the event. */
export function idOfStep(story: Story, activityId: string, event: HistoryEvent): string {
  if (story.activityIds.has(activityId)) return idOf(story, 'event', event)
  story.activityIds.add(activityId)
  return stepId(story.run.runId, activityId)
}

function stepEnded(story: Story, event: HistoryEvent, scheduledEventId: unknown, result: Partial<Draft>): Draft[] {
  const key = String(scheduledEventId)
  const { attempts = 1, queueMs = null, lastFailure = null } = story.attempts.get(key) ?? {}
  story.attempts.delete(key)
  return ended(story, event, scheduledEventId, {
    ...result,
    attributes: { attempts, ...(queueMs !== null && { queueMs }) },
    lastFailure,
  })
}
