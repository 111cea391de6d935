import type { Payload } from '../payload.ts'
import type { EventTable } from './history-state.ts'
import { toLocalMarker } from './local-marker.ts'
import { stepNodeId } from './step-events.ts'
import type { UnresolvedEntry } from './unresolved-entry.ts'

/** Local activities. The history has one marker for each, recorded when it ends. */
export const localStepEvents: EventTable = {
  markerRecordedEventAttributes(marker, event, state) {
    const local = toLocalMarker(marker, event, state.task.startedAt)
    if (local === null) return []
    const { details, failure } = marker
    const { activityId, name, attempts, scheduledAt, endedAt, willRetry } = local
    const key = `${name} ${scheduledAt}`
    const id = state.localRetries.get(key) ?? stepNodeId(state, activityId, event)
    const step = { id, parentId: state.run.runId, kind: 'step', name }
    const attributes = { activityId, local: true, attempts }
    const input = details?.input?.payloads
    const start: UnresolvedEntry = { ...step, at: scheduledAt, phase: 'began', attributes, ...(input && { input }) }
    if (willRetry) {
      // After a long backoff, which the SDK implements as a timer, the next attempt has a marker of its own.
      state.localRetries.set(key, id)
      return [{ ...start, lastFailure: failure }]
    }
    return [start, { ...step, at: endedAt, phase: 'ended', ...endOf(failure, details?.result?.payloads) }]
  },
}

function endOf(failure: UnresolvedEntry['failure'], result: Payload[] | null | undefined): Partial<UnresolvedEntry> {
  return failure ? { failure } : { output: result ?? null }
}
