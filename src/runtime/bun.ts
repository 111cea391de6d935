/** `npm run start:bun`: the service on Bun. */
import { pause } from './pause.ts'
import { type Listener, type ListenOptions, runService } from './service.ts'

/** What is used of it: https://bun.com/docs/api/http */
declare const Bun: {
  serve(options: { hostname: string; port: number; idleTimeout: number; fetch(request: Request): Promise<Response> }): {
    url: URL
    pendingRequests: number
    stop(closeActiveConnections: boolean): Promise<void>
  }
}

const LOOK_AGAIN_MS = 20

await runService({ runtime: 'bun', process, listen })

async function listen({ fetch, host, port }: ListenOptions): Promise<Listener> {
  let closing = false
  const server = Bun.serve({
    hostname: host,
    port,
    // Else a wait is cut after ten quiet seconds.
    idleTimeout: 0,
    async fetch(request) {
      // HTTP/1.0 without a Host: to Bun its path is the whole URL.
      const response = await fetch(
        request.url.startsWith('/') ? new Request(`http://localhost${request.url}`, request) : request,
      )
      if (closing) response.headers.set('Connection', 'close')
      return response
    },
  })
  return {
    url: server.url.origin,
    async close() {
      closing = true
      void server.stop(false)
      while (server.pendingRequests > 0) await pause(LOOK_AGAIN_MS)
      // Bun itself waits for connections whose client never ends his request.
      await server.stop(true)
    },
  }
}
