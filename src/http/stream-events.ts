/** Responds with the events of a stream. */
import type { Context } from 'hono'
import { ServiceError } from '../domain/model/errors.ts'
import type { StreamEvent, StreamFeed, StreamItem } from '../domain/model/stream.ts'
import { parsePosition, positionId } from '../protocol/stream.ts'
import type { Env } from './context.ts'
import { isTransientProblem, problemBody } from './errors.ts'
import { eventFrame, eventStream } from './events.ts'

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

  function serverError(error: unknown): string {
    if (!(error instanceof Error)) throw error
    c.error = error
    const body = problemBody(c, error)
    const last = parsePosition(reached)
    const id = isTransientProblem(body) || last === null ? reached : positionId({ ...last, isEnd: true })
    return retryLine(error) + eventFrame('server_error', body, id || undefined)
  }

  async function* frames(): AsyncGenerator<string | Uint8Array> {
    try {
      for await (const event of events) {
        const { frame, position, lastId } = toFrame(event)
        reached = position ?? reached
        known = lastId ?? known
        if (frame !== undefined) yield frame
        // Other positions are sent with the next item or, if the items are of other topics, with the next comment.
        if (MOVING.has(event.type) && reached !== known) yield move()
      }
    } catch (error) {
      yield serverError(error)
    }
  }

  return eventStream(c, frames(), { commentEveryMs, comment: () => move() || ': still running\n\n' })
}

// Events whose position is sent at once: a reader must not get the first two again, and one that begins with `now` must
// not lose what is published after `live`.
const MOVING: ReadonlySet<StreamEvent['type']> = new Set(['truncated', 'continued', 'live'])

/** An EventSource reconnects after 2 s, which is too soon for some errors. */
function retryLine(error: Error): string {
  const { retryAfterSeconds = 0 } = error instanceof ServiceError ? error.details : {}
  return retryAfterSeconds > 2 ? `retry: ${retryAfterSeconds * 1000}\n` : ''
}

interface Frame {
  /** Absent for an event that only moves the reader. */
  frame?: string | Uint8Array
  /** The id of the position after the event; absent if that is the same. */
  position?: string
  /** The last id in the frame. */
  lastId?: string
}

function toFrame(event: StreamEvent): Frame {
  switch (event.type) {
    case 'workflow':
      return { frame: eventFrame('workflow', event.workflow), ...positionAt(event.workflow.from, event.workflow.runId) }
    case 'obstacle':
      return { frame: eventFrame('workflow', event.workflow) }
    case 'items': {
      const last = event.items.at(-1)
      const moved = positionAt(event.next, event.runId)
      return last === undefined
        ? moved
        : { ...moved, frame: itemsFrame(event.runId, event.items), lastId: idOf(last, event.runId) }
    }
    case 'truncated':
      return {
        frame: eventFrame('truncated', { from: event.from, to: event.to }),
        ...positionAt(event.to, event.runId),
      }
    case 'continued':
      return {
        frame: eventFrame('continued', event.continued),
        ...positionAt(event.from, event.continued.runId),
      }
    case 'done': {
      const { runId, next } = event.done
      const lastId = positionId({ next, runId, isEnd: true })
      return { frame: eventFrame('done', event.done, lastId), position: lastId, lastId }
    }
    default:
      return positionAt(event.next, event.runId)
  }
}

function positionAt(next: number | 'now', runId: string): Pick<Frame, 'position'> {
  return next === 'now' ? {} : { position: positionId({ next, runId, isEnd: false }) }
}

function idOf({ offset }: StreamItem, runId: string): string {
  return positionId({ next: offset + 1, runId, isEnd: false })
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
