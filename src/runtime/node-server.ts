/** A fetch handler on a socket of Node's. */
import { createServer, type ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'

export interface ServeOptions {
  fetch(request: Request): Promise<Response>
  host: string
  /** 0: the system chooses. */
  port: number
}

export interface NodeServer {
  url: string
  /** Takes no more connections; resolves when every request is answered and every connection is closed. */
  close(): Promise<void>
}

const SERVER_OPTIONS = {
  // Headers that dribble are cut within 20 + 5 s; the body has its own 30 s in the app. How long an answer takes is not limited here.
  headersTimeout: 20_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 5000,
  // Above the 60 s after which load balancers usually give an idle connection up: it should be they who close it.
  keepAliveTimeout: 65_000,
}

/** Resolves when it listens; rejects when it can't, with Node's error. */
export async function serveNode({ fetch, host, port }: ServeOptions): Promise<NodeServer> {
  let closing = false
  const unanswered = new Set<ServerResponse>()

  const answer = getRequestListener(
    async (request) => {
      const response = await fetch(request)
      if (closing) response.headers.set('Connection', 'close')
      return response
    },
    { hostname: 'localhost', errorHandler: refuse },
  )
  const server = createServer(SERVER_OPTIONS, (request, response) => {
    unanswered.add(response)
    response.once('close', () => {
      unanswered.delete(response)
      closeWhenDone()
    })
    void answer(request, response)
  })

  function closeWhenDone() {
    // Also those that Node does not count as idle: it waits for the first request of a connection that never sent one.
    if (closing && unanswered.size === 0) server.closeAllConnections()
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })

  return {
    url: urlOf(server.address()),
    close: () =>
      new Promise((resolve) => {
        closing = true
        server.close(() => resolve())
        closeWhenDone()
      }),
  }
}

/** What is HTTP but names no URL never reaches the app. */
function refuse(): Response {
  const requestId = crypto.randomUUID()
  const message = 'The request names no valid URL'
  const body = {
    type: 'urn:portico:error:validation-error',
    title: 'The request is not valid',
    status: 400,
    detail: message,
    error: 'ValidationError',
    message,
    source: 'gateway',
    requestId,
  }
  return new Response(JSON.stringify(body), {
    status: 400,
    headers: { 'Content-Type': 'application/problem+json', 'X-Request-Id': requestId },
  })
}

function urlOf(address: ReturnType<ReturnType<typeof createServer>['address']>): string {
  if (address === null || typeof address === 'string') return String(address)
  return `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`
}
