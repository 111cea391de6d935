import type { RunRef } from '../../protocol/run-ref.ts'
import type { TraceEntry, TraceError } from '../../protocol/trace/entry.ts'
import type { Failure } from '../failure.ts'
import type { HistoryEvent } from '../outcome.ts'
import { toEpochMs } from '../time.ts'
import type { Draft } from './unresolved-entry.ts'

type AttributesName = Extract<keyof HistoryEvent, `${string}EventAttributes`>

/** What each kind of event tells: nothing, something that began, something that ended. */
export type EventTable = {
  readonly [Name in AttributesName]?: (
    told: NonNullable<HistoryEvent[Name]>,
    event: HistoryEvent,
    story: Story,
  ) => Draft[]
}

export type Began = Pick<TraceEntry, 'id' | 'parentId' | 'kind' | 'name' | 'at'>

/** What has been told of a run so far. */
export interface Story {
  run: RunRef
  /** What is open, by the id of the event that began it. */
  open: Map<string, Began>
  /** Ids of activities that were used already. */
  activityIds: Set<string>
  /** Of open activities, by the id of the event that scheduled them. */
  attempts: Map<string, { attempts: number; queueMs: number | null; lastFailure: Failure | null }>
  /** Ids of local activities that will be tried again, by name and time of scheduling: their activity id changes. */
  localRetries: Map<string, string>
  /** The last workflow task, and the failures since one was completed. */
  task: {
    scheduledAt: number | null
    startedAt: number | null
    attempt: number
    failing: { node: Began; attempts: number } | null
  }
  workflowName: string
  cancelRequested: HistoryEvent | null
}

export function newStory(run: RunRef): Story {
  return {
    run,
    open: new Map(),
    activityIds: new Set(),
    attempts: new Map(),
    localRetries: new Map(),
    task: { scheduledAt: null, startedAt: null, attempt: 1, failing: null },
    workflowName: '',
    cancelRequested: null,
  }
}

/** The beginning of something in the run. */
export function began(
  { run, open }: Story,
  event: HistoryEvent,
  { id, kind, name }: { id: string; kind: string; name: string | null | undefined },
  more: Pick<Draft, 'attributes' | 'input'> = {},
): Draft[] {
  const what: Began = { id, parentId: run.runId, kind, name: name ?? '', at: timeOf(event) }
  open.set(String(event.eventId), what)
  return [{ ...what, phase: 'began', ...more }]
}

/** An id for what only this one event begins. */
export function idOf({ run }: Story, kind: string, event: HistoryEvent): string {
  return `${run.runId}:${kind}:${event.eventId}`
}

/** The end of what the event `beganWith` began. */
export function ended({ open }: Story, event: HistoryEvent, beganWith: unknown, more: Partial<Draft> = {}): Draft[] {
  const key = String(beganWith)
  const what = open.get(key)
  open.delete(key)
  return what === undefined ? [] : [{ ...what, at: timeOf(event), phase: 'ended', ...more }]
}

export function timeOf(event: HistoryEvent): number {
  return toEpochMs(event.eventTime) ?? 0
}

export const CANCELED = named('CanceledFailure', 'canceled')

/** An error that the engine tells by the kind of its event alone. */
export function named(name: string, message: string): { error: TraceError } {
  return { error: { name, message, cause: null } }
}
