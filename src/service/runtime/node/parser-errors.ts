/**
 * Responses to requests that never reach the app.
 * Node's own responses to them would have neither a body nor a request id.
 */

import { type IncomingHttpHeaders, type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { errorCode } from '../../../shared/lib/error-code.ts'
import { DOT_SEGMENT_MESSAGE, hasDotSegment } from '../../http/pipeline/request-checks.ts'
import { type ProblemFields, problemHeaders, toProblem, toRequestId } from '../../http/problem.ts'

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
export function rejectOnSocket(error: Error, socket: Duplex): void {
  endWith(socket, toBytes(BY_CODE.get(errorCode(error)) ?? MALFORMED))
}

/** For the event `connect`, which Node emits for the method CONNECT. */
export function rejectConnect({ headers }: IncomingMessage, socket: Duplex): void {
  endWith(
    socket,
    toBytes(CONNECT, {
      requestedId: headers['x-request-id'],
      extraHeaders: { Allow: 'GET, HEAD, POST, PATCH, PUT, DELETE, OPTIONS' },
    }),
  )
}

/** For a request whose target is not a URL. */
export function rejectUrl(): Response {
  return toResponse(INVALID_URL)
}

// The same check as in Node: https://github.com/nodejs/node/blob/v24.x/lib/_http_common.js
const CONTINUE = /(?:^|\W)100-continue(?:$|\W)/i

/** The response to a request that is rejected for its path, Host or Expect; null for any other request. */
export function rejectHead({
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
