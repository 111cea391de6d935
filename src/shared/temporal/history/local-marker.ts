/** The markers that SDKs record when a local activity ends. */
import type { temporal } from '@temporalio/proto'
import { isObject, parseLenientJson } from '../../lib/json.ts'
import type { TemporalEvent } from '../outcome.ts'
import type { Payload } from '../payload.ts'
import { eventTime } from './history-state.ts'

export interface LocalMarker {
  activityId: string
  name: string
  attempts: number
  scheduledAt: number
  endedAt: number
  willRetry: boolean
}

type Marker = Pick<temporal.api.history.v1.IMarkerRecordedEventAttributes, 'details' | 'markerName'>

/** Null for any other marker. `taskStartedAt`: when the workflow task started, in epoch milliseconds. */
export function toLocalMarker(
  { markerName, details }: Marker,
  event: TemporalEvent,
  taskStartedAt: number | null,
): LocalMarker | null {
  const detail = (key: string) => parseDetail(details?.[key]?.payloads?.[0])
  if (markerName === 'core_local_activity') return fromCore(detail('data'), event, taskStartedAt)
  if (markerName !== 'LocalActivity') return null
  return details?.type
    ? fromJava({ id: detail('activityId'), name: detail('type'), meta: detail('meta') }, event)
    : fromGo(detail('data'), event)
}

/** TypeScript, Python, .NET and Ruby, whose SDKs share Temporal's core. */
function fromCore(data: unknown, event: TemporalEvent, taskStartedAt: number | null): LocalMarker | null {
  if (!isObject(data) || !isString(data.activity_id) || !isString(data.activity_type)) return null
  const scheduledAt = toMs(data.original_schedule_time) ?? eventTime(event)
  const completeTime = toMs(data.complete_time)
  return {
    activityId: data.activity_id,
    name: data.activity_type,
    attempts: attemptsOf(data.attempt),
    scheduledAt,
    // `complete_time` is the start of the workflow task plus the duration of the activity.
    endedAt:
      completeTime === null
        ? eventTime(event)
        : scheduledAt + Math.max(0, completeTime - (taskStartedAt ?? scheduledAt)),
    willRetry: isObject(data.backoff),
  }
}

/**
 * `localActivityMarkerData` of Go. It has no scheduling time and no link to the marker of the next attempt. Unlike
 * those of the other SDKs it goes through the user's codec, and cannot be read when there is one.
 */
function fromGo(data: unknown, event: TemporalEvent): LocalMarker | null {
  if (!isObject(data) || !isString(data.ActivityID) || !isString(data.ActivityType)) return null
  const at = eventTime(event)
  const { ActivityID: activityId, ActivityType: name, Attempt: attempt } = data
  return { activityId, name, attempts: attemptsOf(attempt), scheduledAt: at, endedAt: at, willRetry: false }
}

/** `LocalActivityMarkerUtils` and `LocalActivityMarkerMetadata` of Java. */
function fromJava(
  { id, name, meta }: { id: unknown; name: unknown; meta: unknown },
  event: TemporalEvent,
): LocalMarker | null {
  if (!isString(id) || !isString(name)) return null
  const { firstSkd, atpt, backoff } = isObject(meta) ? meta : {}
  const endedAt = eventTime(event)
  const scheduledAt = typeof firstSkd === 'number' ? Math.min(firstSkd, endedAt) : endedAt
  return { activityId: id, name, attempts: attemptsOf(atpt), scheduledAt, endedAt, willRetry: backoff != null }
}

const decoder = new TextDecoder()

function parseDetail(payload: Payload | undefined): unknown {
  try {
    return parseLenientJson(decoder.decode(payload?.data ?? new Uint8Array()))
  } catch {
    // The user's code has recorded a marker of the same name.
    return null
  }
}

function attemptsOf(attempt: unknown): number {
  return typeof attempt === 'number' ? attempt : 1
}

function isString(value: unknown): value is string {
  return typeof value === 'string'
}

function toMs(time: unknown): number | null {
  if (!isObject(time) || typeof time.seconds !== 'number' || typeof time.nanos !== 'number') return null
  return time.seconds * 1000 + Math.floor(time.nanos / 1e6)
}
