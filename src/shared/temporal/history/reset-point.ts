/** From which event of a history a run can be executed again, after a step or an event. */
import type { TemporalEvent } from '../outcome.ts'
import { toLocalMarker } from './local-marker.ts'

export interface ResetHistory {
  /** Adds the next events, oldest first. */
  add(events: readonly TemporalEvent[]): void
  /** The names of all steps so far. */
  stepNames(): string[]
  /** The event that completed a step of this name last; null if none of them has completed. */
  completionOf(stepName: string): number | null
  /** The first event at or after `eventId` from which the engine can execute the run again; null without one. */
  pointAfter(eventId: number): number | null
  /** The names of the steps that had not closed when the event was recorded. */
  stepsOpenAt(eventId: number): string[]
}

interface Step {
  name: string
  /** The event that closed it; null while it is open. */
  closedBy: number | null
  completed: boolean
}

const CLOSING = [
  'activityTaskCompletedEventAttributes',
  'activityTaskFailedEventAttributes',
  'activityTaskTimedOutEventAttributes',
  'activityTaskCanceledEventAttributes',
] as const

/** The engine can reset a run to the end of any workflow task: completed, failed or timed out. */
const TASK_ENDS = [
  'workflowTaskCompletedEventAttributes',
  'workflowTaskFailedEventAttributes',
  'workflowTaskTimedOutEventAttributes',
] as const

/** Keeps only what is needed to find a point, because a history may have 50 000 events. */
export function createResetHistory(): ResetHistory {
  /** By the event that scheduled them; local activities by their marker. In the order of these events. */
  const steps = new Map<number, Step>()
  const taskEnds: number[] = []

  function addOne(event: TemporalEvent): void {
    const eventId = Number(event.eventId)
    const { activityTaskScheduledEventAttributes: scheduled, markerRecordedEventAttributes: marker } = event
    if (scheduled) steps.set(eventId, { name: scheduled.activityType?.name ?? '', closedBy: null, completed: false })
    const local = marker ? toLocalMarker(marker, event, null) : null
    if (local !== null) steps.set(eventId, { name: local.name, closedBy: eventId, completed: !marker?.failure })
    for (const kind of CLOSING) close(Number(event[kind]?.scheduledEventId), eventId, kind === CLOSING[0])
    if (TASK_ENDS.some((kind) => event[kind])) taskEnds.push(eventId)
  }

  function close(scheduledBy: number, closedBy: number, completed: boolean): void {
    const step = steps.get(scheduledBy)
    if (step !== undefined) steps.set(scheduledBy, { ...step, closedBy, completed })
  }

  const namesOf = (some: Iterable<Step>) => [...new Set(Array.from(some, ({ name }) => name))]

  return {
    add: (events) => events.forEach(addOne),
    stepNames: () => namesOf(steps.values()),
    completionOf(stepName) {
      const ends = [...steps.values()].flatMap(({ name, completed, closedBy }) =>
        name === stepName && completed ? [closedBy ?? 0] : [],
      )
      return ends.length === 0 ? null : ends.reduce((last, end) => Math.max(last, end))
    },
    pointAfter: (eventId) => taskEnds.find((end) => end >= eventId) ?? null,
    stepsOpenAt: (eventId) =>
      namesOf([...steps.values()].filter(({ closedBy }) => closedBy === null || closedBy > eventId)),
  }
}
