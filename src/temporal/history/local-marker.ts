/** The markers in which the SDKs record local activities when they end. */
import type { temporal } from '@temporalio/proto'
import { parseJson } from '../../lib/exact-json.ts'
import { isObject } from '../../lib/is-object.ts'
import type { HistoryEvent } from '../outcome.ts'
import type { Payload } from '../payload.ts'
import { timeOf } from './history-state.ts'

export interface LocalMarker {
  activityId: string
  name: string
  attempts: number
  scheduledAt: number
  endedAt: number
  willRetry: boolean
}

type Told = Pick<temporal.api.history.v1.IMarkerRecordedEventAttributes, 'details' | 'markerName'>

/** Null for a marker of something else. */
export function toLocalMarker(
  { markerName, details }: Told,
  event: HistoryEvent,
  taskStartedAt: number | null,
): LocalMarker | null {
  const told = (key: string) => parsed(details?.[key]?.payloads?.[0])
  if (markerName === 'core_local_activity') return ofCore(told('data'), event, taskStartedAt)
  if (markerName !== 'LocalActivity') return null
  return details?.type
    ? ofJava({ id: told('activityId'), name: told('type'), meta: told('meta') }, event)
    : ofGo(told('data'), event)
}

/** TypeScript, Python, .NET, Ruby: all that are built on Temporal's core. */
function ofCore(told: unknown, event: HistoryEvent, taskStartedAt: number | null): LocalMarker | null {
  if (!isObject(told) || !isText(told.activity_id) || !isText(told.activity_type)) return null
  const scheduledAt = toMs(told.original_schedule_time) ?? timeOf(event)
  const completeTime = toMs(told.complete_time)
  return {
    activityId: told.activity_id,
    name: told.activity_type,
    attempts: attemptsOf(told.attempt),
    scheduledAt,
    // Core reports the start of the workflow task plus the duration as the time of completion.
    endedAt:
      completeTime === null ? timeOf(event) : scheduledAt + Math.max(0, completeTime - (taskStartedAt ?? scheduledAt)),
    willRetry: isObject(told.backoff),
  }
}

/**
 * `localActivityMarkerData` of Go, which says neither when it was scheduled nor which later marker is its next attempt. It alone
 * goes through the user's codec, and can't be read behind one.
 */
function ofGo(told: unknown, event: HistoryEvent): LocalMarker | null {
  if (!isObject(told) || !isText(told.ActivityID) || !isText(told.ActivityType)) return null
  const at = timeOf(event)
  const { ActivityID: activityId, ActivityType: name, Attempt: attempt } = told
  return { activityId, name, attempts: attemptsOf(attempt), scheduledAt: at, endedAt: at, willRetry: false }
}

/** `LocalActivityMarkerUtils` and `LocalActivityMarkerMetadata` of Java. */
function ofJava(
  { id, name, meta }: { id: unknown; name: unknown; meta: unknown },
  event: HistoryEvent,
): LocalMarker | null {
  if (!isText(id) || !isText(name)) return null
  const { firstSkd, atpt, backoff } = isObject(meta) ? meta : {}
  const endedAt = timeOf(event)
  const scheduledAt = typeof firstSkd === 'number' ? Math.min(firstSkd, endedAt) : endedAt
  return { activityId: id, name, attempts: attemptsOf(atpt), scheduledAt, endedAt, willRetry: backoff != null }
}

const decoder = new TextDecoder()

function parsed(payload: Payload | undefined): unknown {
  try {
    return parseJson(decoder.decode(payload?.data ?? new Uint8Array()))
  } catch {
    return null // another program's marker of that name
  }
}

function attemptsOf(attempt: unknown): number {
  return typeof attempt === 'number' ? attempt : 1
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function toMs(time: unknown): number | null {
  if (!isObject(time) || typeof time.seconds !== 'number' || typeof time.nanos !== 'number') return null
  return time.seconds * 1000 + Math.floor(time.nanos / 1e6)
}
