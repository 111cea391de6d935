/** The stream of a workflow: docs/decisions/042-waits-of-the-client.md */
import type { StreamRun } from '../../service/model/stream.ts'
import type { ServerEvent } from '../../shared/lib/event-stream.ts'
import { idBefore } from '../../shared/wire/position.ts'
import { isProblem, toError } from '../connection/answer.ts'
import type { Connection } from '../connection/connection.ts'
import { newSeries } from '../connection/repeat.ts'
import type { HttpRequest } from '../connection/request.ts'
import { PorticoError } from '../portico-error.ts'
import { pathOf, type Target } from '../target.ts'
import type { StreamEvent, StreamOptions, WorkflowStream } from './stream-event.ts'

const TYPES: readonly (string | undefined)[] = ['workflow', 'item', 'truncated', 'continued', 'done']

// The service sends a comment every 10 s.
const MAX_SILENCE_MS = 30_000

// A connection that was cut after this time has worked.
const STABLE_MS = 1000

export function workflowStream<Data>(
  connection: Connection,
  target: Target,
  options: StreamOptions,
): WorkflowStream<Data> {
  async function* events(): AsyncGenerator<StreamEvent<Data>> {
    const failure = yield* readAll<Data>(connection, createPlace(target, options), options.signal)
    if (failure !== null) throw failure
  }

  return {
    events,
    async *[Symbol.asyncIterator]() {
      for await (const event of events()) {
        if (event.type === 'truncated') throw truncated(target, event)
        if (event.type !== 'item') continue
        const { type: _type, ...item } = event
        yield item
      }
    },
  }
}

/** Opens the stream again whenever its connection is lost. Returns the error with which the service has ended it. */
async function* readAll<Data>(
  connection: Connection,
  place: Place,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamEvent<Data>, PorticoError | null> {
  const limits = { signal, timeoutMs: Number.POSITIVE_INFINITY, deadlineAt: Number.POSITIVE_INFINITY }
  let series = newSeries()
  while (true) {
    const events = await connection.open(place.toRequest, limits, series)
    if (events === null) return null
    const openedAt = Date.now()
    const openedAfter = place.lastId()
    try {
      return yield* readConnection(events, place, signal)
    } catch (error) {
      if (!(error instanceof PorticoError)) throw error
      const hasMoved = place.lastId() !== openedAfter
      const hasWorked = hasMoved || (error.status === null && Date.now() - openedAt >= STABLE_MS)
      if (hasWorked) series = newSeries()
      await connection.pauseAfter(error, place.toRequest(), limits, series)
    }
  }
}

/** The events of one connection. Returns the error with which the service has ended the stream, null after `done`. */
async function* readConnection<Data>(
  events: AsyncIterable<ServerEvent>,
  place: Place,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamEvent<Data>, PorticoError | null> {
  for await (const event of events) {
    signal?.throwIfAborted()
    place.pass(event)
    if (event.event === 'server_error') {
      // The parser of positions would be a fortieth of the client.
      const isLast = event.id?.endsWith('@end') === true
      const error = serverError(event, isLast)
      if (isLast) return error
      throw error
    }
    if (TYPES.includes(event.event)) yield toEvent(event)
    if (event.event === 'done') break
  }
  return null
}

/** How far the stream was read. */
interface Place {
  lastId(): string | undefined
  pass(event: ServerEvent): void
  /** The request for what follows. */
  toRequest(): HttpRequest
}

function createPlace(target: Target, { topics, from }: StreamOptions): Place {
  const path = `${pathOf(target)}/stream`
  let lastId = firstId(target, from)
  return {
    lastId: () => lastId,
    pass({ id = lastId, event, data }) {
      // Without an id, `now` and the latest run would be others after a reconnect.
      lastId = id ?? (event === 'workflow' ? toId(data as StreamRun) : undefined)
    },
    toRequest: () => ({
      method: 'GET',
      path,
      query: { topic: topics, from: lastId === undefined ? from : undefined },
      headers: { Accept: 'text/event-stream', ...(lastId !== undefined && { 'Last-Event-ID': lastId }) },
      waitMs: MAX_SILENCE_MS,
    }),
  }
}

/** The handle that `start` returns is about the run that was started, and its chain, although a later run may exist. */
function firstId({ runId, isPinned }: Target, from: StreamOptions['from'] = 0): string | undefined {
  return isPinned || runId === undefined ? undefined : toId({ from, runId })
}

/** Undefined for `now`, which is not a position. */
function toId({ from, runId }: { from: number | string; runId: string }): string | undefined {
  return typeof from === 'number' ? idBefore(runId, from) : undefined
}

// The shape is not validated.
function toEvent<Data>({ event, data, id }: ServerEvent): StreamEvent<Data> {
  return { ...(data as object), ...(event === 'item' && { id }), type: event } as StreamEvent<Data>
}

/** Without a final id, the stream can be continued. */
function serverError({ data, retryMs = 0 }: ServerEvent, isFinal: boolean): PorticoError {
  if (isProblem(data)) return toError(data, isFinal ? {} : { retryAfterMs: retryMs })
  return new PorticoError('UnexpectedResponseError', 'The stream ended unexpectedly', { status: null })
}

function truncated({ workflowId }: Target, { from, to }: { from: number; to: number }): PorticoError {
  const lost = to - from === 1 ? `item ${from} is` : `items ${from} to ${to - 1} are`
  const message = `Stream of workflow ${workflowId}: ${lost} lost. Continue with from: ${to}, or use events()`
  return new PorticoError('StreamTruncatedError', message, { status: null, workflowId, truncated: { from, to } })
}
