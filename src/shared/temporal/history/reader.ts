import type { RunRef } from '../../wire/run-ref.ts'
import type { TraceEntry } from '../../wire/trace/entry.ts'
import type { TemporalEvent } from '../outcome.ts'
import type { PayloadReader } from '../payload.ts'
import { childEvents, nexusEvents, timerEvents } from './awaited-events.ts'
import { createHistoryState, type EventTable, type HistoryState } from './history-state.ts'
import { messageEvents } from './message-events.ts'
import { localStepEvents, stepEvents } from './step-events.ts'
import { resolveEntries, type UnresolvedEntry } from './unresolved-entry.ts'
import { workflowEvents } from './workflow-events.ts'
import { workflowTaskEvents } from './workflow-task-events.ts'

/** Converts the history of a run, recorded by any SDK, to trace entries: page by page, oldest event first. */
export interface HistoryReader {
  /** The entries for what began or ended in these events: for most events one or none. */
  entriesOf(events: readonly TemporalEvent[]): Promise<TraceEntry[]>
}

// Traces do not show the other events: workflow tasks that succeed, versions, side effects, search attributes.
const HANDLERS: EventTable = {
  ...workflowEvents,
  ...workflowTaskEvents,
  ...stepEvents,
  ...localStepEvents,
  ...timerEvents,
  ...messageEvents,
  ...childEvents,
  ...nexusEvents,
}

type EventHandler = (attributes: unknown, event: TemporalEvent, state: HistoryState) => UnresolvedEntry[]

// The cast is safe: each handler is called with the attributes of its own name, as the table's type requires.
const HANDLER_BY_NAME: ReadonlyMap<string, EventHandler> = new Map(Object.entries(HANDLERS) as [string, EventHandler][])

export function createHistoryReader(run: RunRef, payloads: PayloadReader): HistoryReader {
  const state = createHistoryState(run)
  return {
    entriesOf: (events) =>
      resolveEntries(
        events.flatMap((event) => handleEvent(event, state)),
        payloads,
      ),
  }
}

function handleEvent(event: TemporalEvent, state: HistoryState): UnresolvedEntry[] {
  for (const [name, attributes] of Object.entries(event)) {
    const handle = attributes ? HANDLER_BY_NAME.get(name) : undefined
    if (handle !== undefined) return handle(attributes, event, state)
  }
  return []
}
