/** What the last events of an open run say about what it waits for. Events are in the order latest first. */
import type { TemporalEvent } from './outcome.ts'
import { toDate, toDurationMs, toEpochMs } from './time.ts'

export interface OpenTimer {
  /** Null for the delay before the first workflow task. */
  timerId: string | null
  since: Date | null
  firesAt: Date | null
}

/** The timers that are set and have not fired, the next one first. */
export function openTimers(events: readonly TemporalEvent[]): OpenTimer[] {
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
export function timeOfLatest(events: readonly TemporalEvent[], attributes: keyof TemporalEvent): Date | null {
  return toDate(events.find((event) => event[attributes])?.eventTime)
}

/** The events that no completed workflow task has handled. */
function unhandled(events: readonly TemporalEvent[]): readonly TemporalEvent[] {
  const completedAt = events.findIndex((event) => event.workflowTaskCompletedEventAttributes)
  return completedAt === -1 ? events : events.slice(0, completedAt)
}

/**
 * Since when workflow code has been due. The engine schedules a task again if the worker that it was meant for does not
 * take it, and then describes only the later task.
 */
export function dueSince(events: readonly TemporalEvent[]): Date | null {
  return toDate(unhandled(events).findLast((event) => event.workflowTaskScheduledEventAttributes)?.eventTime)
}

/** The names of the signals that no workflow task has handled yet, the earliest first. */
export function waitingSignals(events: readonly TemporalEvent[]): string[] {
  const names = unhandled(events).flatMap((event) => event.workflowExecutionSignaledEventAttributes?.signalName ?? [])
  return [...new Set(names.toReversed())]
}

/** When the child was started or, until then, initiated. */
export function childSince(events: readonly TemporalEvent[], initiatedId: string): Date | null {
  const isOf = (event: TemporalEvent) =>
    String(event.childWorkflowExecutionStartedEventAttributes?.initiatedEventId) === initiatedId ||
    String(event.eventId) === initiatedId
  return toDate(events.find(isOf)?.eventTime)
}

/** A start delay, a cron schedule, or the backoff of a retried run. Until it is over, there is no workflow task. */
function startDelay(events: readonly TemporalEvent[]): OpenTimer[] {
  const first = events.at(-1)
  const delay = first?.workflowExecutionStartedEventAttributes?.firstWorkflowTaskBackoff
  const isOver = events.some((event) => event.workflowTaskScheduledEventAttributes)
  return first === undefined || isOver || toDurationMs(delay) === 0
    ? []
    : [{ timerId: null, ...span(first, toDurationMs(delay)) }]
}

function span({ eventTime }: TemporalEvent, durationMs: number): { since: Date | null; firesAt: Date | null } {
  const at = toEpochMs(eventTime)
  return { since: toDate(eventTime), firesAt: at === null ? null : new Date(at + durationMs) }
}
