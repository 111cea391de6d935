/**
 * Responses that are ready before the whole request body has arrived.
 * Their connection is closed, because body bytes may follow.
 */
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { setImmediate } from 'node:timers/promises'

// The contract's limit for reading a rejected body.
const LINGER_MS = 500

/** Whether the request has no body, so that it has arrived with its headers. */
export function isBodiless({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers['content-length'] === undefined && headers['transfer-encoding'] === undefined
}

/** Whether the whole request, including its body, has arrived. */
export async function hasArrived(incoming: Pick<IncomingMessage, 'complete'>): Promise<boolean> {
  // Node's parser runs promise callbacks between a body and its end, even if both arrive in one packet.
  await setImmediate()
  return incoming.complete
}

/**
 * The same response with `Connection: close`. The connection stays open until the rest of the request body has arrived,
 * for at most 500 ms.
 *
 * Closing a connection with unread bytes resets it, and the client may see the reset instead of the response.
 */
export async function lastOfConnection(response: Response, incoming: Readable): Promise<Response> {
  const bytes = new Uint8Array(await response.arrayBuffer())
  const headers = new Headers(response.headers)
  headers.set('Connection', 'close')
  // 204, 304 and HEAD: there is no body to lose if a reset follows.
  if (bytes.byteLength === 0) return new Response(null, { status: response.status, headers })
  headers.set('Content-Length', String(bytes.byteLength))
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      // Because of Content-Length, the response is complete for the client here.
      controller.enqueue(bytes)
      await readRest(incoming)
      controller.close()
    },
  })
  return new Response(body, { status: response.status, headers })
}

async function readRest(incoming: Readable): Promise<void> {
  // After a timeout or a disconnect the connection is closed anyway.
  await finished(incoming.resume(), { signal: AbortSignal.timeout(LINGER_MS) }).catch(() => {})
}
