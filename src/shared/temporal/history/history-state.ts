import type { temporal } from '@temporalio/proto'
import type { RunRef } from '../../wire/run-ref.ts'
import type { TraceEntry, TraceError } from '../../wire/trace/entry.ts'
import type { Failure } from '../failure.ts'
import type { TemporalEvent } from '../outcome.ts'
import { toEpochMs } from '../time.ts'
import type { UnresolvedEntry } from './unresolved-entry.ts'

type AttributesName = Extract<keyof TemporalEvent, `${string}EventAttributes`>

/**
 * An event handler for each kind of event, by the name of its attributes. It returns the entries that the event adds.
 */
export type EventTable = {
  readonly [Name in AttributesName]?: (
    attributes: NonNullable<TemporalEvent[Name]>,
    event: TemporalEvent,
    state: HistoryState,
  ) => UnresolvedEntry[]
}

/** A node of the trace that has begun and not yet ended. */
export type OpenNode = Pick<TraceEntry, 'id' | 'parentId' | 'kind' | 'name' | 'at'>

/** What the events so far say about a run. Event handlers read and change it. */
export interface HistoryState {
  run: RunRef
  /** By the id of the event that began the node. */
  open: Map<string, OpenNode>
  /** Activity ids that the run has used. */
  activityIds: Set<string>
  /** Of open activities, by the id of the event that scheduled them. */
  attempts: Map<string, { attempts: number; startedAt: number; queueMs: number | null; lastFailure: Failure | null }>
  /** Node ids of local activities that will be retried, by name and scheduling time. Activity ids differ by attempt. */
  localRetries: Map<string, string>
  /** The last workflow task. */
  task: {
    scheduledAt: number | null
    startedAt: number | null
    attempt: number
    /** The node of the failures since a workflow task last completed; null when none has failed. */
    failing: { node: OpenNode; attempts: number } | null
  }
  workflowName: string
  cancelRequested: TemporalEvent | null
}

export function createHistoryState(run: RunRef): HistoryState {
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

/** Opens a node, and returns its first entry. */
export function beginNode(
  { run, open }: HistoryState,
  event: TemporalEvent,
  { id, kind, name }: { id: string; kind: string; name: string | null | undefined },
  more: Pick<UnresolvedEntry, 'attributes' | 'input'> = {},
): UnresolvedEntry[] {
  const node: OpenNode = { id, parentId: run.runId, kind, name: name ?? '', at: eventTime(event) }
  open.set(String(event.eventId), node)
  return [{ ...node, phase: 'began', ...more, ...summaryOf(event) }]
}

/** What the workflow's code says about what it begins. */
export function summaryOf({ userMetadata }: TemporalEvent): Pick<UnresolvedEntry, 'summary'> {
  return userMetadata?.summary ? { summary: [userMetadata.summary] } : {}
}

/**
 * Closes the node that the event `beginEventId` opened, and returns its last entry; none when there is no such node.
 */
export function endNode(
  { open }: HistoryState,
  event: TemporalEvent,
  beginEventId: unknown,
  more: Partial<UnresolvedEntry> = {},
): UnresolvedEntry[] {
  const key = String(beginEventId)
  const node = open.get(key)
  open.delete(key)
  return node === undefined ? [] : [{ ...node, at: eventTime(event), phase: 'ended', ...more }]
}

/** An id for a node that only this event can begin. */
export function nodeId({ run }: HistoryState, kind: string, event: TemporalEvent): string {
  return `${run.runId}:${kind}:${event.eventId}`
}

export function eventTime(event: TemporalEvent): number {
  return toEpochMs(event.eventTime) ?? 0
}

/** The failure for an event that has none. */
export function canceled(details?: temporal.api.common.v1.IPayloads | null): { failure: Failure } {
  return { failure: { message: 'canceled', canceledFailureInfo: { details: details ?? null } } }
}

/** The error for an event that has no failure of its own. */
export function engineError(name: string, message: string): { error: TraceError } {
  return { error: { name, message, cause: null } }
}
