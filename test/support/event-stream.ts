/** Server-sent events, as a client receives them. */
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
  const events = eventsOf(body ?? new ReadableStream())
  return {
    /** The next event of this name; those before it are skipped. */
    async next(name: string): Promise<Sent> {
      while (true) {
        const { value, done } = await events.next()
        if (done) throw new Error(`the stream ended without ${name}`)
        if (value.event === name) return value
      }
    },
    cut: () => client.abort(),
  }
}

/** The events of a stream, as they arrive. */
export async function* eventsOf(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<Sent, void> {
  let unread = ''
  for await (const chunk of body.pipeThrough(new TextDecoderStream()).values()) {
    unread = (unread + chunk).replace(/^(?::.*|retry: \d+)\n\n/gm, '')
    const received = [...unread.matchAll(SENT)]
    const last = received.at(-1)
    // Also what precedes an event, such as an id alone.
    if (last !== undefined) unread = unread.slice(last.index + last[0].length)
    yield* received.map(toSent)
  }
}
