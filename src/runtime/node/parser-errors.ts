/** What Node would refuse itself, without a body or a request id, is answered here, as the app would. */
import { type IncomingHttpHeaders, type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { PROBLEM_TYPE, type Problem, toProblem, toRequestId } from '../../http/problem.ts'

type Refusal = Omit<Problem, 'requestId'>

const MALFORMED: Refusal = {
  status: 400,
  error: 'ValidationError',
  title: 'Invalid request',
  message: 'The request is not HTTP as this server understands it',
}

const NO_URL: Refusal = { ...MALFORMED, message: 'The request names no valid URL' }
const NO_HOST: Refusal = { ...MALFORMED, message: 'An HTTP/1.1 request must have a Host header' }
const UNMET_EXPECTATION: Refusal = { ...MALFORMED, status: 417, message: 'Expect may only be 100-continue' }

const CONNECT: Refusal = {
  status: 405,
  error: 'MethodNotAllowedError',
  title: 'Method not allowed',
  message: 'This service is not a proxy: CONNECT is not supported',
}

const BY_CODE: ReadonlyMap<unknown, Refusal> = new Map<unknown, Refusal>([
  [
    'HPE_HEADER_OVERFLOW',
    {
      status: 431,
      error: 'PayloadTooLargeError',
      title: 'Payload too large',
      message: 'The headers, with the URL, are larger than 16 KiB',
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
      message: 'The request was not complete in time',
    },
  ],
])

/** For `clientError`: answers on the socket, and closes it. */
export function refuseOnSocket(error: Error, socket: Duplex): void {
  endWith(socket, toBytes(('code' in error ? BY_CODE.get(error.code) : undefined) ?? MALFORMED))
}

/** For `connect`: this service is not a proxy. */
export function refuseConnect({ headers }: IncomingMessage, socket: Duplex): void {
  endWith(
    socket,
    toBytes(CONNECT, { given: headers['x-request-id'], more: { Allow: 'GET, HEAD, POST, PATCH, OPTIONS' } }),
  )
}

/** For what is HTTP but names no URL. */
export function refuseUrl(): Response {
  return toResponse(NO_URL)
}

// As Node checks it: https://github.com/nodejs/node/blob/v24.x/lib/_http_common.js
const CONTINUE = /(?:^|\W)100-continue(?:$|\W)/i

/** For a request whose head alone is refused, whatever the app would say; null for any other. */
export function refuseHead({
  httpVersion,
  headers,
}: {
  httpVersion: string
  headers: IncomingHttpHeaders
}): Response | null {
  if (httpVersion !== '1.1') return null
  if (headers.host === undefined) return toResponse(NO_HOST, headers['x-request-id'])
  if (headers.expect !== undefined && !CONTINUE.test(headers.expect))
    return toResponse(UNMET_EXPECTATION, headers['x-request-id'])
  return null
}

function endWith(socket: Duplex, bytes: string): void {
  if (socket.writable) socket.write(bytes)
  // Waits for what is written to leave, and no longer.
  socket.end(() => socket.destroy())
}

type GivenId = string | string[] | undefined

function toResponse(refusal: Refusal, given?: GivenId): Response {
  const { headers, body } = toAnswer(refusal, given)
  return new Response(body, { status: refusal.status, headers })
}

function toBytes(
  refusal: Refusal,
  { given, more = {} }: { given?: GivenId; more?: Record<string, string> } = {},
): string {
  const { headers, body } = toAnswer(refusal, given)
  const all = {
    ...headers,
    ...more,
    Date: new Date().toUTCString(),
    Connection: 'close',
    'Content-Length': String(Buffer.byteLength(body)),
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n${lines.join('')}\r\n${body}`
}

function toAnswer(refusal: Refusal, given?: GivenId): { headers: Record<string, string>; body: string } {
  const requestId = toRequestId(typeof given === 'string' ? given : undefined)
  return {
    headers: { 'Content-Type': PROBLEM_TYPE, 'X-Request-Id': requestId },
    body: JSON.stringify(toProblem({ ...refusal, requestId })),
  }
}
