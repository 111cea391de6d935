/** Server-sent events, as a client receives them. */
import type { Answer } from './api.ts'
import { CALLER_HEADERS } from './policy.ts'

export interface Sent {
  id?: string
  event: string
  // biome-ignore lint/suspicious/noExplicitAny: an assertion says what it should be
  data: any
}

const SENT = /(?:id: (.*)\n)?event: (.*)\ndata: (.*)\n\n/g

/** The events of a stream that has ended. */
export function eventsIn(text: string): Sent[] {
  return [...text.matchAll(SENT)].map(toSent)
}

/**
 * The error of a response to `GET …/stream`. It is an ordinary one if it is known within two seconds. On a busy machine
 * it may be the last event of a response with status 200.
 */
export function problemOf({ body, text }: Pick<Answer, 'body' | 'text'>): Answer['body'] {
  return body ?? eventsIn(text).findLast(({ event }) => event === 'server_error')?.data
}

function toSent([, id, event = '', data = '']: RegExpMatchArray): Sent {
  return { ...(id !== undefined && { id }), event, data: JSON.parse(data) }
}

/** A client that reads a stream event by event, and can disconnect at any of them. */
export async function openEvents(
  url: string,
  request: Omit<RequestInit, 'headers' | 'signal'> & { headers?: Record<string, string> } = {},
) {
  const client = new AbortController()
  const headers = { ...CALLER_HEADERS, ...request.headers }
  const { body } = await fetch(url, { ...request, headers, signal: client.signal })
  let position: string | undefined
  const events = eventsOf(body ?? new ReadableStream(), (id) => {
    position = id
  })
  return {
    /** The next event of this name; those before it are skipped. */
    async next(name: string): Promise<Sent> {
      while (true) {
        const { value, done } = await events.next()
        if (done) throw new Error(`the stream ended without ${name}`)
        if (value.event === name) return value
      }
    },
    /** The last id without an event, as far as `next` has read. */
    position: () => position,
    cut: () => client.abort(),
  }
}

/** The events of a stream, as they arrive. Calls `onMove` with each id that comes without an event. */
export async function* eventsOf(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  onMove: (id: string) => void = () => {},
): AsyncGenerator<Sent, void> {
  let unread = ''
  for await (const chunk of body.pipeThrough(new TextDecoderStream()).values()) {
    unread = (unread + chunk).replace(/^(?::.*|retry: \d+)\n\n/gm, '').replace(/^id: (.*)\n\n/gm, (_, id) => {
      onMove(id)
      return ''
    })
    const received = [...unread.matchAll(SENT)]
    const last = received.at(-1)
    if (last !== undefined) unread = unread.slice(last.index + last[0].length)
    yield* received.map(toSent)
  }
}
