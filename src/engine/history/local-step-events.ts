import { isObject } from '../../protocol/is-object.ts'
import { parseJson } from '../../protocol/json.ts'
import type { HistoryEvent } from '../outcome.ts'
import type { Payload } from '../payload.ts'
import type { Draft } from './draft.ts'
import { idOfStep } from './step-events.ts'
import { type EventTable, timeOf } from './story.ts'

/** Local activities, which the SDKs built on Temporal's core (TypeScript, Python, .NET, Ruby) record as one marker when they end. */
export const localStepEvents: EventTable = {
  markerRecordedEventAttributes({ markerName, details, failure }, event, story) {
    const told = markerName === 'core_local_activity' ? toMarker(details?.data?.payloads?.[0], event) : null
    if (told === null) return []
    const { activityId, name, attempts, scheduledAt, endedAt, willRetry } = told
    const key = `${name} ${scheduledAt}`
    const id = story.localRetries.get(key) ?? idOfStep(story, activityId, event)
    const step = { id, parentId: story.run.runId, kind: 'step', name }
    const attributes = { activityId, local: true, attempts }
    const start: Draft = { ...step, at: scheduledAt, phase: 'began', attributes }
    if (willRetry) {
      // A long pause before the next attempt is a timer of the workflow, and that attempt a marker of its own.
      story.localRetries.set(key, id)
      return [{ ...start, lastFailure: failure }]
    }
    return [start, { ...step, at: endedAt, phase: 'ended', ...endOf(failure, details?.result?.payloads) }]
  },
}

interface Marker {
  activityId: string
  name: string
  attempts: number
  scheduledAt: number
  endedAt: number
  willRetry: boolean
}

function endOf(failure: Draft['failure'], result: Payload[] | null | undefined): Partial<Draft> {
  return failure ? { failure } : { output: result ?? null }
}

/** What core has written of the activity; never through a user's codec. Null for what it has not written. */
function toMarker(payload: Payload | undefined, event: HistoryEvent): Marker | null {
  const told = parsed(payload)
  if (!isObject(told) || typeof told.activity_id !== 'string' || typeof told.activity_type !== 'string') return null
  const scheduledAt = toMs(told.original_schedule_time) ?? timeOf(event)
  return {
    activityId: told.activity_id,
    name: told.activity_type,
    attempts: typeof told.attempt === 'number' ? told.attempt : 1,
    scheduledAt,
    // Counted from the start of the workflow task, not of the activity: it may lie before the time of scheduling.
    endedAt: Math.max(scheduledAt, toMs(told.complete_time) ?? timeOf(event)),
    willRetry: isObject(told.backoff),
  }
}

const decoder = new TextDecoder()

function parsed(payload: Payload | undefined): unknown {
  try {
    return parseJson(decoder.decode(payload?.data ?? new Uint8Array()))
  } catch {
    return null // another program's marker of that name
  }
}

function toMs(time: unknown): number | null {
  if (!isObject(time) || typeof time.seconds !== 'number' || typeof time.nanos !== 'number') return null
  return time.seconds * 1000 + Math.floor(time.nanos / 1e6)
}
