import { EventType } from '../../../shared/temporal/enums.ts'
import { createHistoryReader } from '../../../shared/temporal/history/reader.ts'
import type { TemporalEvent } from '../../../shared/temporal/outcome.ts'
import { readStartedEvent } from '../../../shared/temporal/started-event.ts'
import { type Closing, type Execution, isOpen, toSingleValue } from '../../../shared/wire/execution.ts'
import type { RunRef } from '../../../shared/wire/run-ref.ts'
import type { TraceEntry } from '../../../shared/wire/trace/entry.ts'
import type { Call } from '../../model/call.ts'
import type { StartInput } from '../../model/engine.ts'
import type { ExecutionRef } from '../../model/execution.ts'
import { type EngineContext, executionIds } from '../context.ts'
import { toServiceError } from '../errors.ts'
import { readClosing } from '../waits/follow-run.ts'
import { describe } from './describe.ts'
import { readPage } from './history-pages.ts'

// Most histories are shorter, so one page has everything. Of a longer history only the first event of the page is used.
const PAGE_SIZE = 40

export async function read(context: EngineContext, ref: ExecutionRef, call: Call, known?: Closing): Promise<Execution> {
  let execution = await readRun(context, ref, call, known)
  // The engine selects the latest run before it reads the history: meanwhile that run may have continued as a new one.
  while (ref.runId === undefined && execution.closing?.nextRunId != null) {
    execution = await readRun(context, { workflowId: ref.workflowId, runId: execution.closing.nextRunId }, call)
  }
  return execution
}

async function readRun(context: EngineContext, ref: ExecutionRef, call: Call, known?: Closing): Promise<Execution> {
  try {
    const { events, nextPageToken } = await readPage(context, ref, call, { maximumPageSize: PAGE_SIZE })
    // In parallel: a codec, or the store behind it, may take seconds for each.
    const [started, closing] = await Promise.all([
      readStartedEvent(ref.workflowId, events, context.payloads),
      nextPageToken === null ? readClosing(events, context.payloads, ref.workflowId) : null,
    ])
    if (nextPageToken === null && (closing !== null || (known === undefined && isRunning(events)))) {
      const { args, ...run } = started
      return { ...run, input: toSingleValue(args), status: closing?.outcome.status ?? 'running', closing }
    }

    // The run may be paused, or its history is longer than the page.
    // Its description says which, and names the latest run.
    const description = await describe(context, ref, call)
    const { args } = started.runId === description.runId ? started : await recordedInput(context, description, call)
    return {
      ...description,
      input: toSingleValue(args),
      closing:
        known !== undefined && !isOpen(description.status) ? known : ((await description.readEnd?.(call)) ?? null),
    }
  } catch (error) {
    throw toServiceError(error, { kind: 'read', details: executionIds(ref) })
  }
}

/** Whether the run is running. If not, it may be paused. `events` is its whole history, which has no close event. */
function isRunning(events: readonly TemporalEvent[]): boolean {
  const { WORKFLOW_EXECUTION_PAUSED, WORKFLOW_EXECUTION_UNPAUSED } = EventType
  // Types that are newer than this code may mean another status. 0 is a type that the HTTP transport does not know.
  const isKnown = (type: number) => type > 0 && type <= WORKFLOW_EXECUTION_UNPAUSED
  return events.every(({ eventType }) => isKnown(eventType ?? 0) && eventType !== WORKFLOW_EXECUTION_PAUSED)
}

export async function recordedInput(context: EngineContext, run: RunRef, call: Call): Promise<StartInput> {
  try {
    const { events } = await readPage(context, run, call, { maximumPageSize: 1 })
    const { workflowName, args } = await readStartedEvent(run.workflowId, events, context.payloads)
    return { workflowName, args }
  } catch (error) {
    throw toServiceError(error, { kind: 'read', details: executionIds(run) })
  }
}

export async function* readEntries(context: EngineContext, run: RunRef, call: Call): AsyncGenerator<TraceEntry> {
  const reader = createHistoryReader(run, context.payloads.redactable)
  let nextPageToken: Uint8Array | null = null
  try {
    do {
      const page = await readPage(context, run, call, nextPageToken === null ? {} : { nextPageToken })
      yield* await reader.entriesOf(page.events)
      nextPageToken = page.nextPageToken
    } while (nextPageToken !== null)
  } catch (error) {
    throw toServiceError(error, { kind: 'read', details: executionIds(run) })
  }
}
