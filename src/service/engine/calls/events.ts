/**
 * Reads a run's history, and waits at its end. A position is in one of two states:
 *
 * - within the history: `live` is null, and `page` is the engine's page with the next event;
 * - at the end: `live` is the engine's token for polls for the next event. `page` is still the last page, which will
 *   contain that event too: while no slot for a poll is free, this page is read instead of a poll.
 */

import { fromBase64, toBase64 } from '../../../shared/lib/base64.ts'
import type { Lazy } from '../../../shared/lib/cache.ts'
import { GrpcCode } from '../../../shared/temporal/grpc-code.ts'
import { createHistoryReader } from '../../../shared/temporal/history/reader.ts'
import { closeStatus, type TemporalEvent } from '../../../shared/temporal/outcome.ts'
import { toDate } from '../../../shared/temporal/time.ts'
import type { RunRef } from '../../../shared/wire/run-ref.ts'
import type { TraceEntry } from '../../../shared/wire/trace/entry.ts'
import { type Call, withTimeout } from '../../model/call.ts'
import type { EventPage, EventsRange, EventsRequest, HistoryPosition } from '../../model/history-page.ts'
import { invalidPageToken } from '../../model/page-token.ts'
import { type EngineContext, executionIds } from '../context.ts'
import { toServiceError } from '../errors.ts'
import { decodeEvents } from '../events/decode-events.ts'
import type { EventToJson } from '../events/event-json.ts'
import { type Polled, pollUntil } from '../polls.ts'
import { RpcError } from '../transport/transport.ts'
import { isCausedByToken } from './changed-token.ts'
import { readPage } from './history-pages.ts'

/** The next events, at most `maxEvents`. Waits until there is one, or `waitMs` are over. */
export async function events(
  context: EngineContext,
  lazyEventToJson: Lazy<EventToJson>,
  run: RunRef,
  { values, ...range }: EventsRequest,
  call: Call,
): Promise<EventPage> {
  return readAs(context, run, range, call, async (found) =>
    decodeEvents(found, await lazyEventToJson.get(), context.payloads.redactable, values),
  )
}

/** Reads the history as trace entries. It must be read from the beginning: entries depend on earlier events. */
export function entriesOf(
  context: EngineContext,
  run: RunRef,
): (range: EventsRange, call: Call) => Promise<EventPage<TraceEntry>> {
  const reader = createHistoryReader(run, context.payloads.redactable)
  return (range, call) => readAs(context, run, range, call, reader.entriesOf)
}

async function readAs<Event>(
  context: EngineContext,
  run: RunRef,
  { from, maxEvents, waitMs }: EventsRange,
  call: Call,
  convert: (events: readonly TemporalEvent[]) => Promise<Event[]>,
): Promise<EventPage<Event>> {
  const reader: Reader = { context, run, maxEvents }
  try {
    const now = from.live === null || waitMs === 0 ? await readNow(reader, from, call) : nothingAfter(from)
    const isWaiting = now.events.length === 0 && waitMs > 0
    const { events, next } = isWaiting ? await waitForEvents(reader, now.next, withTimeout(call, waitMs)) : now
    const last = events.at(-1)
    const status = last === undefined ? null : closeStatus(last)
    return {
      events: await convert(events),
      next,
      end: status === null ? null : { status, completedAt: toDate(last?.eventTime) },
    }
  } catch (error) {
    if (await isInvalidToken(error, reader, from, call)) throw invalidPageToken(error)
    throw toServiceError(error, { kind: 'read', details: executionIds(run) })
  }
}

interface Reader {
  context: EngineContext
  run: RunRef
  maxEvents: number
}

interface Found {
  events: TemporalEvent[]
  next: HistoryPosition
  /** Whether the engine answered a poll at once, and would answer the next one at once too. */
  isRepeated?: boolean
}

function nothingAfter(next: HistoryPosition): Found {
  return { events: [], next }
}

/** The events that the engine has now. */
async function readNow({ context, run, maxEvents }: Reader, from: HistoryPosition, call: Call): Promise<Found> {
  let { page } = from
  while (true) {
    const request = { maximumPageSize: maxEvents, ...toToken(page) }
    const { events, nextPageToken } = await readPage(context, run, call, request)
    const nextPage = nextPageToken && toBase64(nextPageToken)
    // The last page is read again from its start, because it may get more events.
    const found = select(events, { ...from, page }, maxEvents, { page: nextPage ?? page, live: null })
    if (found.events.length > 0 || nextPage === null) return found
    page = nextPage
  }
}

/** Waits until there are events, or `call` is over. */
async function waitForEvents(reader: Reader, from: HistoryPosition, call: Call): Promise<Found> {
  let last = nothingAfter(from)
  const toPolled = (found: Found): Polled<Found> => {
    last = found
    return found.events.length > 0 ? { found } : { found: null, isRepeated: found.isRepeated === true }
  }
  const found = await pollUntil(reader.context, call, {
    poll: async (polling) => toPolled(await pollOnce(reader, last.next, polling)),
    read: async (reading) => toPolled(await readNow(reader, last.next, reading)),
  })
  return found ?? last
}

async function pollOnce({ context, run, maxEvents }: Reader, from: HistoryPosition, call: Call): Promise<Found> {
  const { page, live } = from
  const request = { maximumPageSize: maxEvents, waitNewEvent: true, ...toToken(live ?? page) }
  const { events, nextPageToken } = await readPage(context, run, call, request)
  const nextLive = nextPageToken && toBase64(nextPageToken)
  // The engine answers at once for a paused run, without a token, and if there are only events of a pending task.
  const isRepeated = nextLive === null || (live !== null && events.length > 0)
  return { ...select(events, from, maxEvents, { page, live: nextLive }), isRepeated }
}

/**
 * The first events after the position. The engine's pages may be larger than requested: `afterAll` is where the reader
 * continues if no event is left over.
 */
function select(
  read: readonly TemporalEvent[],
  { after, page }: HistoryPosition,
  maxEvents: number,
  afterAll: Pick<HistoryPosition, 'page' | 'live'>,
): Found {
  const newer = read.filter((event) => Number(event.eventId) > after && isRecorded(event))
  const events = newer.slice(0, maxEvents)
  const isPart = events.length < newer.length
  const next = isPart ? { page, live: null } : afterAll
  return { events, next: { after: Number(events.at(-1)?.eventId ?? after), ...next } }
}

/**
 * False for the events of a pending workflow task, which have no task id. The engine may still drop them (a retry, or a
 * task for an update), and give their event ids to other events.
 */
function isRecorded({ taskId }: TemporalEvent): boolean {
  return Number(taskId ?? 0) !== 0
}

/** Whether a client has changed the token: the engine's own tokens are valid, and so is the rest of the request. */
async function isInvalidToken(
  error: unknown,
  { context, run }: Reader,
  { page, live }: HistoryPosition,
  call: Call,
): Promise<boolean> {
  if ((page ?? live) === null) return false
  if (error instanceof RpcError && error.code === GrpcCode.INVALID_ARGUMENT) return true
  return isCausedByToken(error, () => readPage(context, run, call, { maximumPageSize: 1 }))
}

function toToken(token: string | null): { nextPageToken?: Uint8Array } {
  return token === null ? {} : { nextPageToken: fromBase64(token) }
}
