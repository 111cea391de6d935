/** Responds with the events of a stream. */
import type { Context } from 'hono'
import { parsePosition, positionAt, positionId } from '../../../shared/wire/position.ts'
import { ServiceError } from '../../model/errors.ts'
import type { FeedEvent, StreamFeed, StreamItem } from '../../model/stream.ts'
import type { Env } from '../context.ts'
import { isTransientProblem, type ProblemBody } from '../errors.ts'
import { eventFrame, eventStream } from './events.ts'

/** The events of a stream in the form of another protocol. */
export interface StreamFormat {
  /** In addition to the headers of an event stream. */
  headers: Readonly<Record<string, string>>
  /** `follow` can be called several times. */
  respond(c: Context<Env>, follow: () => Promise<StreamFeed | null>, options: StreamFormatOptions): Promise<Response>
}

export interface StreamFormatOptions {
  /** How many chunks the reader has received already; negative: how many of the last ones it wants. Default: 0. */
  startIndex?: number | undefined
  commentEveryMs: number
  headers?: Readonly<Record<string, string>>
}

/** The format that a request names; null without one. Throws `NotSupportedError` if the service does not have it. */
export function formatOf(
  name: 'ui-message' | undefined,
  { uiMessages }: { uiMessages: StreamFormat | null },
): StreamFormat | null {
  if (name !== undefined && uiMessages === null)
    throw new ServiceError('NotSupportedError', `The format ${name} is not supported by this deployment`)
  return name === undefined ? null : uiMessages
}

/** A reader that loses the connection continues after the last id that it has received. */
export function streamResponse(c: Context<Env>, { events }: StreamFeed, commentEveryMs: number): Response {
  // The position that was reached, and the one that the client knows.
  let [reached, known] = ['', '']

  /** Sends `reached` as an id without data, which clients store but do not dispatch. Empty if the client knows it. */
  function move(): string {
    if (reached === known) return ''
    known = reached
    return `id: ${reached}\n\n`
  }

  function onError(body: ProblemBody, error: Error): string {
    const last = parsePosition(reached)
    const id = isTransientProblem(body) || last === null ? reached : positionId({ ...last, last: 'end' })
    return retryLine(error) + eventFrame('server_error', body, id || undefined)
  }

  async function* frames(): AsyncGenerator<string | Uint8Array> {
    for await (const event of events) {
      const { frame, position, lastId } = toFrame(event)
      reached = position ?? reached
      known = lastId ?? known
      if (frame !== undefined) yield frame
      // Other positions are sent with the next item or, if the items are of other topics, with the next comment.
      if (MOVING.has(event.type) && reached !== known) yield move()
    }
  }

  return eventStream(c, frames(), { commentEveryMs, comment: () => move() || ': still running\n\n', onError })
}

// Events whose position is sent at once: a reader must not get the first two again, and one that begins with `now` must
// not lose what is published after `live`.
const MOVING: ReadonlySet<FeedEvent['type']> = new Set(['truncated', 'continued', 'live'])

/** An EventSource reconnects after 1 to 4 s, which is too soon for some errors. */
function retryLine(error: Error): string {
  const { retryAfterSeconds = 0 } = error instanceof ServiceError ? error.details : {}
  return retryAfterSeconds > 1 ? `retry: ${retryAfterSeconds * 1000}\n` : ''
}

interface Frame {
  /** Absent for an event that only moves the reader. */
  frame?: string | Uint8Array
  /** The id of the position after the event; absent if that is the same. */
  position?: string
  /** The last id in the frame. */
  lastId?: string
}

function toFrame(event: FeedEvent): Frame {
  switch (event.type) {
    case 'workflow':
      return { frame: eventFrame('workflow', event.workflow), ...movedTo(event.workflow.from, event.workflow.runId) }
    case 'obstacle':
      return { frame: eventFrame('workflow', event.workflow) }
    case 'items': {
      const last = event.items.at(-1)
      const moved = movedTo(event.next, event.runId)
      return last === undefined
        ? moved
        : { ...moved, frame: itemsFrame(event.runId, event.items), lastId: idOf(last, event.runId) }
    }
    case 'truncated':
      return {
        frame: eventFrame('truncated', { from: event.from, to: event.to }),
        ...movedTo(event.to, event.runId),
      }
    case 'continued':
      return {
        frame: eventFrame('continued', event.continued),
        ...movedTo(event.from, event.continued.runId),
      }
    case 'done': {
      const { runId } = event.done
      const lastId = positionId({ runId, last: 'end' })
      return { frame: eventFrame('done', event.done, lastId), position: lastId, lastId }
    }
    default:
      return movedTo(event.next, event.runId)
  }
}

function movedTo(next: number | 'now', runId: string): Pick<Frame, 'position'> {
  return next === 'now' ? {} : { position: positionId(positionAt({ runId }, next)) }
}

function idOf({ offset }: StreamItem, runId: string): string {
  return positionId({ runId, last: offset })
}

const encoder = new TextEncoder()

// Readers of one run share the arrays of items, so each is encoded once.
const encoded = new WeakMap<readonly StreamItem[], Uint8Array>()

function itemsFrame(runId: string, items: readonly StreamItem[]): Uint8Array {
  const known = encoded.get(items)
  if (known !== undefined) return known
  const text = items.map((each) => eventFrame('item', each, idOf(each, runId))).join('')
  const frame = encoder.encode(text)
  encoded.set(items, frame)
  return frame
}
