/**
 * Serves a fetch handler with Node's HTTP server, and responds to requests that never reach the handler: Node's own
 * responses to them would have neither a body nor a request id.
 */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { Duplex, Readable } from 'node:stream'
import { getRequestListener } from '@hono/node-server'
import { errorCode } from '../../../shared/lib/error-code.ts'
import { toRequestId } from '../../http/context.ts'
import { rawPath } from '../../http/path.ts'
import { BULK_PATH, NDJSON } from '../../http/pipeline/body.ts'
import { isHeld, isPlace, type LoadShedder, type ReceivedHead, type ShedResponse } from '../../http/pipeline/places.ts'
import { canonicalHost, DOT_SEGMENT_MESSAGE, hasDotSegment } from '../../http/pipeline/request-checks.ts'
import { type ProblemFields, problemHeaders, toProblem } from '../../http/problem.ts'
import type { Listener, ListenOptions } from '../service.ts'
import { hasArrived, isBodiless, lastOfConnection } from './early-response.ts'

const SERVER_OPTIONS = {
  // A client that sends its request too slowly gets a response within the contract's 30 s. If only the body is slow,
  // the app responds first. The time until the response is not limited here.
  headersTimeout: 20_000,
  requestTimeout: 28_000,
  connectionsCheckingInterval: 500,
  // `rejectHead` does this with an error body and a request id.
  requireHostHeader: false,
}

// Load balancers usually close idle connections after 60 s. The server must not close them first: requests would be
// lost.
const IDLE_TIMEOUT_MS = 65_000

// Maximum number of connections that the process has not accepted yet. Linux drops others, and their clients retry only
// after a second: with Node's default of 511, requests of a burst waited for up to 4 s before they could be rejected.
const BACKLOG = 4096

/** Whether the body of the request is read while the response is sent. */
function answersLines({ status, headers }: Response): boolean {
  return status === 200 && headers.get('Content-Type') === NDJSON
}

function isBulk({ url = '' }: Pick<IncomingMessage, 'url'> = {}): boolean {
  return rawPath({ url }).endsWith(BULK_PATH)
}

function isLate(error: Error & { code?: unknown }): boolean {
  return error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
}

/** A request over HTTP/1.1 or HTTP/2. */
type Incoming = Readable & Pick<IncomingMessage, 'complete' | 'headers'>

/** Resolves when the server listens; rejects with Node's error when it cannot. */
export async function serveNode({
  fetch,
  loadShedder,
  host,
  port,
  idleTimeoutMs = null,
}: Omit<ListenOptions, 'log'>): Promise<Listener> {
  let closing = false
  const openResponses = new Set<ServerResponse>()
  // The handlers of requests that were held, each bound to the place of its request.
  const held = new WeakMap<object, ListenOptions['fetch']>()

  const handle = getRequestListener(
    (request, { incoming }) => {
      const rejection = rejectHead(incoming)
      // Not a function of its own: each function in which a waiting request is suspended takes half a KiB.
      if (rejection !== null) return sendable(rejection, incoming)
      const handleRequest = held.get(incoming) ?? fetch
      return handleRequest(request).then((it) => sendable(it, incoming))
    },
    { hostname: 'localhost', errorHandler: rejectUrl },
  )

  function sendable(response: Response, incoming: Incoming): Response | Promise<Response> {
    cancelContinue(incoming)
    if (closing) response.headers.set('Connection', 'close')
    if (incoming.complete || isBodiless(incoming) || answersLines(response)) return response
    return hasArrived(incoming).then((isComplete) => (isComplete ? response : lastOfConnection(response, incoming)))
  }

  function track(response: ServerResponse) {
    openResponses.add(response)
    response.on('close', onResponseClosed)
  }

  function onRequest(request: IncomingMessage, response: ServerResponse) {
    track(response)
    // The adapter accepts an address only as URLs have it.
    if (request.headers.host !== undefined) request.headers.host = canonicalHost(request.headers.host)
    if (closing || !loadShedder?.isActive()) void handle(request, response)
    else void holdOrHandle(request, response, loadShedder)
  }

  /** Holds only requests that have arrived completely, because the connection stays open after a rejection. */
  async function holdOrHandle(request: IncomingMessage, response: ServerResponse, loadShedder: LoadShedder) {
    const isComplete = isBodiless(request) || (await hasArrived(request))
    const holding = isComplete ? loadShedder.hold(headOf(request)) : null
    if (holding === null) return void handle(request, response)
    if (!isHeld(holding)) return rejectWith(response, holding)
    response.once('close', holding.giveUp)
    const outcome = await holding.outcome
    if (outcome === null) return
    if (!isPlace(outcome)) return rejectWith(response, outcome)
    held.set(request, (it) => loadShedder.handle(it, outcome))
    void handle(request, response)
  }

  function rejectWith(response: ServerResponse, { status, headers, body }: ShedResponse) {
    // Without its length Node would send the body in chunks.
    response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) }).end(body)
  }

  function onResponseClosed(this: ServerResponse) {
    openResponses.delete(this)
    closeWhenDone()
  }

  const server = createServer({ ...SERVER_OPTIONS, keepAliveTimeout: idleTimeoutMs ?? IDLE_TIMEOUT_MS }, onRequest)
  server.on('checkContinue', (request, response) => {
    track(response)
    continueOnRead(request, response)
    void handle(request, response)
  })
  server.on('checkExpectation', (request, response) => {
    track(response)
    void handle(request, response)
  })
  server.on('connect', rejectConnect)
  server.on('clientError', onClientError)

  function onClientError(error: Error, socket: Duplex) {
    const pending = [...openResponses].find((response) => response.socket === socket)
    // A bulk may take any time, and the app ends one that stops arriving.
    if (isLate(error) && isBulk(pending?.req)) return
    // The app has rejected the request already, and this response is the last of the connection.
    if (pending?.headersSent && !pending.req.complete) return void socket.destroy()
    if (!pending?.req.complete) return rejectOnSocket(error, socket)
    // The invalid bytes follow a complete request. Its response comes first on this connection, which is then closed.
    pending.shouldKeepAlive = false
    pending.once('close', () => socket.destroy())
  }

  function closeWhenDone() {
    // Node would wait for connections that never sent a request: it does not count them as idle.
    if (closing && openResponses.size === 0) server.closeAllConnections()
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, host, backlog: BACKLOG }, () => {
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

function headOf({ method = '', url = '', headers }: IncomingMessage): ReceivedHead {
  return { method, url, header: (name) => headers[name.toLowerCase()]?.toString() }
}

/**
 * Sends `100 Continue` when the body is read for the first time.
 * A request that is rejected for its headers (401, 413) never gets it.
 */
function continueOnRead(request: IncomingMessage, response: ServerResponse): void {
  request._read = (size) => {
    cancelContinue(request)
    response.writeContinue()
    request._read(size)
  }
}

/** Called when the response is known: reading the rest of the body no longer sends `100 Continue`. */
function cancelContinue(request: object): void {
  // Removes our override, so that `_read` is Node's method again.
  if (Object.hasOwn(request, '_read')) Reflect.deleteProperty(request, '_read')
}

/** A response to a request that never reaches the handler. */
type Rejection = Omit<ProblemFields, 'requestId'>

const MALFORMED: Rejection = {
  status: 400,
  error: 'ValidationError',
  title: 'Invalid request',
  message: 'The request is not valid HTTP',
}

const INVALID_URL: Rejection = { ...MALFORMED, message: 'The URL of the request is not valid' }
const MISSING_HOST: Rejection = { ...MALFORMED, message: 'An HTTP/1.1 request must have a Host header' }
const DOT_SEGMENT: Rejection = { ...MALFORMED, message: DOT_SEGMENT_MESSAGE }
const UNKNOWN_EXPECTATION: Rejection = { ...MALFORMED, status: 417, message: 'The Expect header must be 100-continue' }

const CONNECT: Rejection = {
  status: 405,
  error: 'MethodNotAllowedError',
  title: 'Method not allowed',
  message: 'This service is not a proxy: CONNECT is not supported',
}

const BY_CODE: ReadonlyMap<unknown, Rejection> = new Map<unknown, Rejection>([
  [
    'HPE_HEADER_OVERFLOW',
    {
      status: 431,
      error: 'PayloadTooLargeError',
      title: 'Payload too large',
      message: 'The URL and the headers together are larger than 16 KiB',
    },
  ],
  [
    'HPE_CHUNK_EXTENSIONS_OVERFLOW',
    {
      status: 413,
      error: 'PayloadTooLargeError',
      title: 'Payload too large',
      message: 'The chunk extensions of the body are larger than 16 KiB',
    },
  ],
  [
    'ERR_HTTP_REQUEST_TIMEOUT',
    {
      status: 408,
      error: 'RequestTimeoutError',
      title: 'Request timeout',
      message: 'The request did not arrive in time',
    },
  ],
])

/** For the event `clientError`: sends the response on the socket and closes it. */
function rejectOnSocket(error: Error, socket: Duplex): void {
  endWith(socket, toBytes(BY_CODE.get(errorCode(error)) ?? MALFORMED))
}

/** For the event `connect`, which Node emits for the method CONNECT. */
function rejectConnect({ headers }: IncomingMessage, socket: Duplex): void {
  endWith(
    socket,
    toBytes(CONNECT, {
      requestedId: headers['x-request-id'],
      extraHeaders: { Allow: 'GET, HEAD, POST, PATCH, PUT, DELETE, OPTIONS' },
    }),
  )
}

/** For a request whose target is not a URL. */
function rejectUrl(): Response {
  return toResponse(INVALID_URL)
}

// The same check as in Node: https://github.com/nodejs/node/blob/v24.x/lib/_http_common.js
const CONTINUE = /(?:^|\W)100-continue(?:$|\W)/i

/** The response to a request that is rejected for its path, Host or Expect; null for any other request. */
function rejectHead({
  httpVersion,
  headers,
  url,
}: {
  httpVersion: string
  headers: IncomingHttpHeaders
  url?: string | undefined
}): Response | null {
  // The adapter would resolve these segments.
  if (url !== undefined && hasDotSegment({ url })) return toResponse(DOT_SEGMENT, headers['x-request-id'])
  if (httpVersion !== '1.1') return null
  if (headers.host === undefined) return toResponse(MISSING_HOST, headers['x-request-id'])
  if (headers.expect !== undefined && !CONTINUE.test(headers.expect))
    return toResponse(UNKNOWN_EXPECTATION, headers['x-request-id'])
  return null
}

function endWith(socket: Duplex, bytes: string): void {
  if (socket.writable) socket.write(bytes)
  // Closes the socket when the response has been sent, even if the client keeps its side open.
  socket.end(() => socket.destroy())
}

type RequestedId = string | string[] | undefined

function toResponse(rejection: Rejection, requestedId?: RequestedId): Response {
  const { headers, body } = toParts(rejection, requestedId)
  return new Response(body, { status: rejection.status, headers })
}

function toBytes(
  rejection: Rejection,
  { requestedId, extraHeaders = {} }: { requestedId?: RequestedId; extraHeaders?: Record<string, string> } = {},
): string {
  const { headers, body } = toParts(rejection, requestedId)
  const all = {
    ...headers,
    ...extraHeaders,
    Date: new Date().toUTCString(),
    Connection: 'close',
    'Content-Length': String(Buffer.byteLength(body)),
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${rejection.status} ${STATUS_CODES[rejection.status]}\r\n${lines.join('')}\r\n${body}`
}

function toParts(rejection: Rejection, requestedId?: RequestedId): { headers: Record<string, string>; body: string } {
  const requestId = toRequestId(typeof requestedId === 'string' ? requestedId : undefined)
  const problem = toProblem({ ...rejection, requestId })
  return { headers: { ...problemHeaders(problem), 'X-Request-Id': requestId }, body: JSON.stringify(problem) }
}
