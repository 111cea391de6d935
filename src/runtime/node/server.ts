/** A fetch handler on a socket of Node's. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { getRequestListener } from '@hono/node-server'
import type { Listener, ListenOptions } from '../service.ts'
import { hasCome, lastOfConnection } from './early-response.ts'
import { continueOnRead, dontContinue } from './expect-continue.ts'
import { refuseConnect, refuseHead, refuseOnSocket, refuseUrl } from './parser-errors.ts'

const SERVER_OPTIONS = {
  // A request that dribbles is answered and its connection closed within the contract's 30 s; where only the body does, the app
  // is a little earlier. How long an answer takes is not limited here.
  headersTimeout: 20_000,
  requestTimeout: 28_000,
  connectionsCheckingInterval: 500,
  // Above the 60 s after which load balancers usually give an idle connection up: it should be they who close it.
  keepAliveTimeout: 65_000,
  // Node's own refusal has no body and no request id: ours has.
  requireHostHeader: false,
}

/** Resolves when it listens; rejects when it can't, with Node's error. */
export async function serveNode({ fetch, host, port }: Omit<ListenOptions, 'log'>): Promise<Listener> {
  let closing = false
  const unanswered = new Set<ServerResponse>()

  const answer = getRequestListener(
    async (request, { incoming }) => {
      const response = refuseHead(incoming) ?? (await fetch(request))
      dontContinue(incoming)
      if (closing) response.headers.set('Connection', 'close')
      return (await hasCome(incoming)) ? response : lastOfConnection(response, incoming)
    },
    { hostname: 'localhost', errorHandler: refuseUrl },
  )

  function respond(request: IncomingMessage, response: ServerResponse) {
    unanswered.add(response)
    response.once('close', () => {
      unanswered.delete(response)
      closeWhenDone()
    })
    void answer(request, response)
  }

  const server = createServer(SERVER_OPTIONS, respond)
  server.on('checkContinue', (request, response) => {
    continueOnRead(request, response)
    respond(request, response)
  })
  server.on('checkExpectation', respond)
  server.on('connect', refuseConnect)
  server.on('clientError', refuse)

  function refuse(error: Error, socket: Duplex) {
    const asked = [...unanswered].find((response) => response.socket === socket && response.req.complete)
    if (asked === undefined) return refuseOnSocket(error, socket)
    // What came after a whole request is refused without a word: the next answer on this connection is that request's, and the last.
    asked.shouldKeepAlive = false
    asked.once('close', () => socket.destroy())
  }

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

function urlOf(address: ReturnType<ReturnType<typeof createServer>['address']>): string {
  if (address === null || typeof address === 'string') return String(address)
  return `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`
}
