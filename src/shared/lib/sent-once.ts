/** The part of `fetch`'s options that has the body. */
export interface SentBody {
  body?: string | ReadableStream<Uint8Array>
  duplex?: 'half'
}

/**
 * The body of a request, undefined for none, in a form that makes `fetch` send a POST or PATCH once.
 *
 * If a connection ends before the response, Deno's `fetch` sends any request a second time, unless its body is a
 * stream. Node, Bun and workerd do that with no POST or PATCH. Browsers do, and support streams only over HTTP/2.
 */
export function sentOnce(method: string, body: string | undefined): SentBody {
  if (/^P/.test(method) && 'Deno' in globalThis) return { body: toStream(body ?? ''), duplex: 'half' }
  return body === undefined ? {} : { body }
}

function toStream(text: string): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(text))
      controller.close()
    },
  })
}
