/** Answers that are ready before their request's body has come: a client must not send its next request behind such a body. */
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { setImmediate } from 'node:timers/promises'

// The contract's bound for a refused body.
const LINGER_MS = 500

/** Whether the request has come whole, body and all. */
export async function hasCome(incoming: Pick<IncomingMessage, 'complete'>): Promise<boolean> {
  // Node's parser lets promises go on between a body and its end, though both came in one packet.
  if (!incoming.complete) await setImmediate()
  return incoming.complete
}

/**
 * The same answer, said to be the last of its connection, which is held until the body's rest has come, for 500 ms at most.
 *
 * Closed with bytes unread, a connection is reset, and the reset can overtake the answer on its way to the client.
 */
export async function lastOfConnection(response: Response, incoming: Readable): Promise<Response> {
  const answer = new Uint8Array(await response.arrayBuffer())
  const headers = new Headers(response.headers)
  headers.set('Connection', 'close')
  // 204, 304 and HEAD: nothing that could be overtaken.
  if (answer.byteLength === 0) return new Response(null, { status: response.status, headers })
  headers.set('Content-Length', String(answer.byteLength))
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      // With its length said, the answer is whole for the client from here on.
      controller.enqueue(answer)
      await rest(incoming)
      controller.close()
    },
  })
  return new Response(body, { status: response.status, headers })
}

async function rest(incoming: Readable): Promise<void> {
  // Too long, or the client has left: the connection is closed either way.
  await finished(incoming.resume(), { signal: AbortSignal.timeout(LINGER_MS) }).catch(() => {})
}
