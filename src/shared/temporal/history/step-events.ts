import { stepId } from '../../wire/trace/keys.ts'
import type { TemporalEvent } from '../outcome.ts'
import type { Payload } from '../payload.ts'
import {
  beginNode,
  canceled,
  type EventTable,
  endNode,
  eventTime,
  type HistoryState,
  nodeId,
  summaryOf,
} from './history-state.ts'
import { toLocalMarker } from './local-marker.ts'
import type { UnresolvedEntry } from './unresolved-entry.ts'

/** Activities. All attempts are one step: the engine records only the last one, when it has ended. */
export const stepEvents: EventTable = {
  activityTaskScheduledEventAttributes({ activityId, activityType, input }, event, state) {
    const node = { id: stepNodeId(state, activityId ?? '', event), kind: 'step', name: activityType?.name }
    return beginNode(state, event, node, { input: input?.payloads ?? null, attributes: { activityId } })
  },

  activityTaskStartedEventAttributes({ scheduledEventId, attempt, lastFailure }, event, { attempts, open }) {
    const scheduledAt = open.get(String(scheduledEventId))?.at
    // The history has no backoff intervals, so the queue time of later attempts is unknown.
    const queueMs = attempt === 1 && scheduledAt !== undefined ? Math.max(0, eventTime(event) - scheduledAt) : null
    const last = { attempts: attempt ?? 1, startedAt: eventTime(event), queueMs, lastFailure: lastFailure ?? null }
    attempts.set(String(scheduledEventId), last)
    return []
  },

  activityTaskCancelRequestedEventAttributes({ scheduledEventId }, _event, { open }) {
    const node = open.get(String(scheduledEventId))
    return node === undefined ? [] : [{ ...node, phase: 'began', attributes: { cancelRequested: true } }]
  },

  activityTaskCompletedEventAttributes: ({ scheduledEventId, result }, event, state) =>
    stepEnded(state, event, scheduledEventId, { output: result?.payloads ?? null }),
  activityTaskFailedEventAttributes: ({ scheduledEventId, failure }, event, state) =>
    stepEnded(state, event, scheduledEventId, { failure: failure ?? null }),
  activityTaskTimedOutEventAttributes: ({ scheduledEventId, failure }, event, state) =>
    stepEnded(state, event, scheduledEventId, { failure: failure ?? null }),
  activityTaskCanceledEventAttributes: ({ scheduledEventId, details }, event, state) =>
    stepEnded(state, event, scheduledEventId, canceled(details)),
}

/**
 * The id of an activity's node: made of the activity's id, which its worker knows, or of the event's id if the run has
 * used the activity's id before.
 */
function stepNodeId(state: HistoryState, activityId: string, event: TemporalEvent): string {
  if (state.activityIds.has(activityId)) return nodeId(state, 'event', event)
  state.activityIds.add(activityId)
  return stepId(state.run.runId, activityId)
}

function stepEnded(
  state: HistoryState,
  event: TemporalEvent,
  scheduledEventId: unknown,
  result: Partial<UnresolvedEntry>,
): UnresolvedEntry[] {
  const key = String(scheduledEventId)
  const { attempts = 1, startedAt, queueMs = null, lastFailure = null } = state.attempts.get(key) ?? {}
  state.attempts.delete(key)
  return endNode(state, event, scheduledEventId, {
    ...result,
    attributes: {
      attempts,
      ...(queueMs !== null && { queueMs }),
      ...(attempts > 1 && startedAt !== undefined && { lastStartedAt: startedAt }),
    },
    lastFailure,
  })
}

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
    const start: UnresolvedEntry = {
      ...step,
      at: scheduledAt,
      phase: 'began',
      attributes,
      ...(input && { input }),
      ...summaryOf(event),
    }
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
