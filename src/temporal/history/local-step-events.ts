import type { Payload } from '../payload.ts'
import type { EventTable } from './history-state.ts'
import { toLocalMarker } from './local-marker.ts'
import { idOfStep } from './step-events.ts'
import type { Draft } from './unresolved-entry.ts'

/** Local activities, which a history knows by one marker each, recorded when they end. */
export const localStepEvents: EventTable = {
  markerRecordedEventAttributes(marker, event, story) {
    const told = toLocalMarker(marker, event, story.task.startedAt)
    if (told === null) return []
    const { details, failure } = marker
    const { activityId, name, attempts, scheduledAt, endedAt, willRetry } = told
    const key = `${name} ${scheduledAt}`
    const id = story.localRetries.get(key) ?? idOfStep(story, activityId, event)
    const step = { id, parentId: story.run.runId, kind: 'step', name }
    const attributes = { activityId, local: true, attempts }
    const input = details?.input?.payloads
    const start: Draft = { ...step, at: scheduledAt, phase: 'began', attributes, ...(input && { input }) }
    if (willRetry) {
      // A long pause before the next attempt is a timer of the workflow, and that attempt a marker of its own.
      story.localRetries.set(key, id)
      return [{ ...start, lastFailure: failure }]
    }
    return [start, { ...step, at: endedAt, phase: 'ended', ...endOf(failure, details?.result?.payloads) }]
  },
}

function endOf(failure: Draft['failure'], result: Payload[] | null | undefined): Partial<Draft> {
  return failure ? { failure } : { output: result ?? null }
}
