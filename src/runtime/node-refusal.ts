/** What Node's parser refuses never becomes a request: it is answered here, as the app would. */
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { PROBLEM_TYPE, type Problem, toProblem } from '../http/problem.ts'

type Refusal = Omit<Problem, 'requestId'>

const MALFORMED: Refusal = {
  status: 400,
  error: 'ValidationError',
  title: 'The request is not valid',
  message: 'The request is not HTTP as this server understands it',
}

const NO_URL: Refusal = { ...MALFORMED, message: 'The request names no valid URL' }

const BY_CODE: ReadonlyMap<unknown, Refusal> = new Map<unknown, Refusal>([
  [
    'HPE_HEADER_OVERFLOW',
    { status: 431, error: 'PayloadTooLargeError', title: 'Too large', message: 'The headers, with the URL, are larger than 16 KiB' },
  ],
  [
    'HPE_CHUNK_EXTENSIONS_OVERFLOW',
    { status: 413, error: 'PayloadTooLargeError', title: 'Too large', message: 'The chunk extensions of the body are larger than 16 KiB' },
  ],
  [
    'ERR_HTTP_REQUEST_TIMEOUT',
    {
      status: 408,
      error: 'RequestTimeoutError',
      title: 'The request did not arrive in time',
      message: 'The request was not complete in time',
    },
  ],
])

/** For `clientError`: answers on the socket, and closes it. */
export function refuseOnSocket(error: Error, socket: Duplex): void {
  const refusal = ('code' in error ? BY_CODE.get(error.code) : undefined) ?? MALFORMED
  if (socket.writable) socket.write(toBytes(refusal))
  // Waits for what is written to leave, and no longer.
  socket.end(() => socket.destroy())
}

/** For what is HTTP but names no URL. */
export function refuseUrl(): Response {
  const { headers, body } = toAnswer(NO_URL)
  return new Response(body, { status: NO_URL.status, headers })
}

function toBytes(refusal: Refusal): string {
  const { headers, body } = toAnswer(refusal)
  const all = { ...headers, Date: new Date().toUTCString(), Connection: 'close', 'Content-Length': String(Buffer.byteLength(body)) }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n${lines.join('')}\r\n${body}`
}

function toAnswer(refusal: Refusal): { headers: Record<string, string>; body: string } {
  const requestId = crypto.randomUUID()
  return {
    headers: { 'Content-Type': PROBLEM_TYPE, 'X-Request-Id': requestId },
    body: JSON.stringify(toProblem({ ...refusal, requestId })),
  }
}
