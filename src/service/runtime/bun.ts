/** `npm run start:bun`: the service on Bun. */
import { sleep } from '../../shared/lib/abort.ts'
import { type Listener, type ListenOptions, runService } from './service.ts'

/** The part of Bun's API that we use: https://bun.com/docs/api/http */
declare const Bun: {
  serve(options: {
    hostname: string
    port: number
    idleTimeout: number
    maxRequestBodySize: number
    fetch(request: Request): Promise<Response>
  }): {
    url: URL
    pendingRequests: number
    stop(closeActiveConnections: boolean): Promise<void>
  }
}

const POLL_MS = 20

await runService({ runtime: 'bun', process, listen })

async function listen({ fetch, host, port }: ListenOptions): Promise<Listener> {
  let closing = false
  const server = Bun.serve({
    hostname: host,
    port,
    // The default closes connections that are idle for ten seconds, even while a request waits.
    idleTimeout: 0,
    // The default is 128 MiB, which a bulk may exceed. The app limits all other bodies.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    async fetch(request) {
      // Without a Host header (HTTP/1.0) Bun uses the path as the URL.
      const response = await fetch(
        request.url.startsWith('/') ? new Request(`http://localhost${request.url}`, request) : request,
      )
      // Bun alone would wait, without a time limit, for the unread rest of a body that is too large.
      const isUnread = response.status === 413 && !request.bodyUsed
      if (closing || isUnread) response.headers.set('Connection', 'close')
      return response
    },
  })
  return {
    url: server.url.origin,
    async close() {
      closing = true
      void server.stop(false)
      while (server.pendingRequests > 0) await sleep(POLL_MS)
      // Bun alone would wait for connections whose client never finishes its request.
      await server.stop(true)
    },
  }
}
