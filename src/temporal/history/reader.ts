import type { RunRef } from '../../protocol/run-ref.ts'
import type { TraceEntry } from '../../protocol/trace/entry.ts'
import type { HistoryEvent } from '../outcome.ts'
import type { PayloadReader } from '../payload-reader.ts'
import { childEvents } from './child-events.ts'
import { type EventTable, newStory, type Story } from './history-state.ts'
import { localStepEvents } from './local-step-events.ts'
import { messageEvents } from './message-events.ts'
import { nexusEvents } from './nexus-events.ts'
import { stepEvents } from './step-events.ts'
import { timerEvents } from './timer-events.ts'
import { type Draft, toEntries } from './unresolved-entry.ts'
import { workflowEvents } from './workflow-events.ts'
import { workflowTaskEvents } from './workflow-task-events.ts'

/** Reads the history of a run, of whatever SDK, page by page, oldest event first. */
export interface HistoryReader {
  /** What began or ended in these events: for most of them one thing or none. */
  entriesOf(events: readonly HistoryEvent[]): Promise<TraceEntry[]>
}

// What is not in it (tasks that succeed, versions, side effects, search attributes) is how the run was carried, not what it did.
const TABLE: EventTable = {
  ...workflowEvents,
  ...workflowTaskEvents,
  ...stepEvents,
  ...localStepEvents,
  ...timerEvents,
  ...messageEvents,
  ...childEvents,
  ...nexusEvents,
}

type Teller = (told: unknown, event: HistoryEvent, story: Story) => Draft[]

// Each teller gets the attributes of its own name: that is what the table's type says.
const TELLERS: ReadonlyMap<string, Teller> = new Map(Object.entries(TABLE) as [string, Teller][])

export function createHistoryReader(run: RunRef, payloads: PayloadReader): HistoryReader {
  const story = newStory(run)
  return {
    entriesOf: (events) =>
      toEntries(
        events.flatMap((event) => draftsOf(event, story)),
        payloads,
      ),
  }
}

function draftsOf(event: HistoryEvent, story: Story): Draft[] {
  for (const [name, told] of Object.entries(event)) {
    const teller = told ? TELLERS.get(name) : undefined
    if (teller !== undefined) return teller(told, event, story)
  }
  return []
}
