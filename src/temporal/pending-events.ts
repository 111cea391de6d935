/** What the last events of an open run say about what it waits for. Events are in the order latest first. */
import type { HistoryEvent } from './outcome.ts'
import { toDate, toDurationMs, toEpochMs } from './time.ts'

export interface OpenTimer {
  /** Null for the delay before the first workflow task. */
  timerId: string | null
  since: Date | null
  firesAt: Date | null
}

/** The timers that are set and have not fired, the next one first. */
export function openTimers(events: readonly HistoryEvent[]): OpenTimer[] {
  const ended = new Set<string>()
  const open: OpenTimer[] = startDelay(events)
  for (const event of events) {
    const { timerStartedEventAttributes: started, timerFiredEventAttributes: fired } = event
    const end = fired ?? event.timerCanceledEventAttributes
    if (end) ended.add(String(end.startedEventId))
    if (!started || ended.has(String(event.eventId))) continue
    open.push({ timerId: started.timerId ?? '', ...span(event, toDurationMs(started.startToFireTimeout)) })
  }
  return open.sort((one, other) => Number(one.firesAt) - Number(other.firesAt))
}

/** The time of the latest event with these attributes; null if it is not one of the events. */
export function timeOfLatest(events: readonly HistoryEvent[], attributes: keyof HistoryEvent): Date | null {
  return toDate(events.find((event) => event[attributes])?.eventTime)
}

/** When the child was started or, until then, initiated. */
export function childSince(events: readonly HistoryEvent[], initiatedId: string): Date | null {
  const isOf = (event: HistoryEvent) =>
    String(event.childWorkflowExecutionStartedEventAttributes?.initiatedEventId) === initiatedId ||
    String(event.eventId) === initiatedId
  return toDate(events.find(isOf)?.eventTime)
}

/** A start delay, a cron schedule, or the backoff of a retried run. Until it is over, there is no workflow task. */
function startDelay(events: readonly HistoryEvent[]): OpenTimer[] {
  const first = events.at(-1)
  const delay = first?.workflowExecutionStartedEventAttributes?.firstWorkflowTaskBackoff
  const isOver = events.some((event) => event.workflowTaskScheduledEventAttributes)
  return first === undefined || isOver || toDurationMs(delay) === 0
    ? []
    : [{ timerId: null, ...span(first, toDurationMs(delay)) }]
}

function span({ eventTime }: HistoryEvent, durationMs: number): { since: Date | null; firesAt: Date | null } {
  const at = toEpochMs(eventTime)
  return { since: toDate(eventTime), firesAt: at === null ? null : new Date(at + durationMs) }
}
