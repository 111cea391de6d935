/** What is recorded of a run, as it is recorded, until the run closes: its events, or the entries of its trace. */
import { isOpen } from '../../shared/wire/execution.ts'
import type { TraceEntry } from '../../shared/wire/trace/entry.ts'
import { maskUnlessRedacted, redactEntry } from '../../shared/wire/trace/mask-entry.ts'
import { type Call, withTimeout } from '../model/call.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import { ServiceError } from '../model/errors.ts'
import type { Description } from '../model/execution.ts'
import {
  type EventPage,
  type EventsRange,
  type FollowCommand,
  type FollowTraceCommand,
  HISTORY_START,
  type HistoryFeed,
  type HistoryFeedPage,
} from '../model/history-page.ts'
import { describeUserRun, eventValues, type HistoryPorts, toHistoryRun, withoutSecrets } from './history.ts'

// The limit on the memory of a stream, whatever the length of the history.
const PAGE_SIZE = 100

// How long the engine waits for an event in one call.
const WAIT_MS = 60_000

export async function followHistory(
  ports: HistoryPorts,
  { includePayloads, ...command }: FollowCommand,
  call: Call,
): Promise<HistoryFeed | null> {
  const run = await followedRun(ports, command, call)
  if (run === null) return null
  const values = await eventValues(ports, run, includePayloads, call)
  const read = (range: EventsRange, reading: Call) => ports.engine.events(run, { ...range, values }, reading)
  return { workflow: toHistoryRun(run), pages: pagesAfter(run, command.after, read, withoutSecrets, call) }
}

/**
 * The entries of the trace that the history has. It is read from the beginning; of the page with the last event that
 * the client has, all entries are returned: a tree of traces takes any number of copies.
 */
export async function followTrace(
  ports: HistoryPorts,
  command: FollowTraceCommand,
  call: Call,
): Promise<HistoryFeed<TraceEntry> | null> {
  const run = await followedRun(ports, command, call)
  if (run === null) return null
  const { redacted } = await eventValues(ports, run, true, call)
  const read = await ports.engine.followEntries(run)
  const show = (entry: TraceEntry) => redactEntry(redacted ? maskUnlessRedacted(entry, run.catalog) : entry)
  return { workflow: toHistoryRun(run), pages: newerThan(command.after, pagesAfter(run, 0, read, show, call)) }
}

/** Null if it is closed and the client has its last event. */
async function followedRun(ports: HistoryPorts, { ref, after }: FollowTraceCommand, call: Call) {
  const run = await describeUserRun(ports, ref, call)
  if (after > run.historyLength) throw notAnEvent(run, after)
  return after === run.historyLength && !isOpen(run.status) ? null : run
}

async function* pagesAfter<Event>(
  run: Description,
  after: number,
  read: (range: EventsRange, call: Call) => Promise<EventPage<Event>>,
  show: (event: Event) => Event,
  call: Call,
): AsyncGenerator<HistoryFeedPage<Event>> {
  let from = { ...HISTORY_START, after }
  while (!call.signal.aborted) {
    const range = { from, maxEvents: PAGE_SIZE, waitMs: WAIT_MS }
    const page = await read(range, withTimeout(call, TIMEOUT_MS.request)).catch((error) => {
      // A read that the end of the request has aborted: the stream ends, and the client can continue.
      if (call.signal.aborted) return null
      throw error
    })
    if (page === null) return
    const closed = page.end === null ? null : toHistoryRun(run, page)
    yield { events: page.events.map(show), last: page.next.after, closed }
    if (closed !== null) return
    from = page.next
  }
}

async function* newerThan<Event>(
  after: number,
  pages: AsyncIterable<HistoryFeedPage<Event>>,
): AsyncGenerator<HistoryFeedPage<Event>> {
  for await (const page of pages) if (page.last > after) yield page
}

/** The client has read another run: the workflow may have continued as a new one since. */
function notAnEvent({ workflowId, runId, historyLength }: Description, after: number): ServiceError {
  const message = `Last-Event-ID ${after} is not an event of run ${runId}, which has ${historyLength} events: use the path of the run that was read, /workflow/:id/runs/:rid`
  return new ServiceError('ValidationError', message, { details: { workflowId, runId } })
}
