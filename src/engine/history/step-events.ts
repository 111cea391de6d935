import { stepId } from '../../protocol/trace-keys.ts'
import type { HistoryEvent } from '../outcome.ts'
import type { Draft } from './draft.ts'
import { began, CANCELED, type EventTable, ended, idOf, type Story } from './story.ts'

/** Activities: all attempts are one step. The engine tells of a start only when the attempt that it began has ended. */
export const stepEvents: EventTable = {
  activityTaskScheduledEventAttributes({ activityId, activityType, input }, event, story) {
    const what = { id: idOfStep(story, activityId ?? '', event), kind: 'step', name: activityType?.name }
    return began(story, event, what, { input: input?.payloads ?? null, attributes: { activityId } })
  },

  activityTaskStartedEventAttributes({ scheduledEventId, attempt, lastFailure }, _event, { attempts }) {
    attempts.set(String(scheduledEventId), { attempts: attempt ?? 1, lastFailure: lastFailure ?? null })
    return []
  },

  activityTaskCompletedEventAttributes: ({ scheduledEventId, result }, event, story) =>
    stepEnded(story, event, scheduledEventId, { output: result?.payloads ?? null }),
  activityTaskFailedEventAttributes: ({ scheduledEventId, failure }, event, story) =>
    stepEnded(story, event, scheduledEventId, { failure: failure ?? null }),
  activityTaskTimedOutEventAttributes: ({ scheduledEventId, failure }, event, story) =>
    stepEnded(story, event, scheduledEventId, { failure: failure ?? null }),
  activityTaskCanceledEventAttributes: ({ scheduledEventId }, event, story) => stepEnded(story, event, scheduledEventId, CANCELED),
}

/** An activity's own id, for its worker knows no other; once that has been used before in this run, the id of the event. */
export function idOfStep(story: Story, activityId: string, event: HistoryEvent): string {
  if (story.activityIds.has(activityId)) return idOf(story, 'event', event)
  story.activityIds.add(activityId)
  return stepId(story.run.runId, activityId)
}

function stepEnded(story: Story, event: HistoryEvent, scheduledEventId: unknown, result: Partial<Draft>): Draft[] {
  const key = String(scheduledEventId)
  const { attempts = 1, lastFailure = null } = story.attempts.get(key) ?? {}
  story.attempts.delete(key)
  return ended(story, event, scheduledEventId, { ...result, attributes: { attempts }, lastFailure })
}
