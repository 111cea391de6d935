/** Reads request bodies with a limit on size and time, and stops at the first error. */
import { ServiceError } from '../domain/model/errors.ts'
import type { RequestCheck } from './context.ts'

export interface BodyLimits {
  maxBytes: number
  /** For the whole body. */
  timeoutMs: number
}

/** Rejects a request whose Content-Length is over the limit, before any of its body is read. */
export function rejectContentLength(maxBytes: number): RequestCheck {
  return (c) => {
    if (Number(c.req.header('Content-Length')) > maxBytes) throw tooLarge(maxBytes)
  }
}

/** The body as a string; empty when there is no body. Reading ends as soon as the body is rejected. */
export function readBody(request: Request, limits: BodyLimits): Promise<string> {
  const { headers } = request
  const length = headers.get('Content-Length')
  if (Number(length) > 0) requireJson(headers)
  // With a Content-Length the body cannot exceed the limit. Runtimes read it much faster as a whole than as a stream.
  return length !== null && !headers.has('Transfer-Encoding') ? readWhole(request, limits) : readStream(request, limits)
}

async function readWhole(request: Request, { maxBytes, timeoutMs }: BodyLimits): Promise<string> {
  const bytes = await received(request.arrayBuffer(), timeoutMs)
  // Only possible if no HTTP server has parsed the request: a server ends the body at its Content-Length.
  if (bytes.byteLength > maxBytes) throw tooLarge(maxBytes)
  return decode(WHOLE, bytes)
}

const WHOLE = createDecoder()

async function readStream({ body, headers }: Request, { maxBytes, timeoutMs }: BodyLimits): Promise<string> {
  if (body === null) return ''
  const reader = body.getReader()
  try {
    return await received(readChunks(reader, headers, maxBytes), timeoutMs)
  } catch (error) {
    // Drops the rest of a rejected body. The rejection is the response, so an error here is ignored.
    reader.cancel().catch(() => {})
    throw error
  }
}

async function readChunks(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  headers: Headers,
  maxBytes: number,
): Promise<string> {
  const decoder = createDecoder()
  const parts: string[] = []
  let length = 0
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    const { value } = chunk
    // Deno sends one empty chunk for a request without a body.
    if (value.byteLength === 0) continue
    requireJson(headers)
    length += value.byteLength
    if (length > maxBytes) throw tooLarge(maxBytes)
    parts.push(decode(decoder, value, { stream: true }))
  }
  parts.push(decode(decoder))
  return parts.join('')
}

/** Settles as `body` does; rejects with an error for the client if the body is late or the connection breaks. */
async function received<T>(body: Promise<T>, timeoutMs: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(timedOut(timeoutMs)), timeoutMs)
  try {
    return await Promise.race([body, late])
  } catch (cause) {
    throw cause instanceof ServiceError ? cause : invalid('is incomplete', cause)
  } finally {
    clearTimeout(timer)
  }
}

function createDecoder(): TextDecoder {
  return new TextDecoder('utf-8', { fatal: true })
}

function decode(decoder: TextDecoder, ...bytes: Parameters<TextDecoder['decode']>): string {
  try {
    return decoder.decode(...bytes)
  } catch (cause) {
    throw invalid('is not valid UTF-8', cause)
  }
}

function requireJson(headers: Headers): void {
  const type = headers.get('Content-Type')?.split(';')[0]?.trim().toLowerCase() ?? ''
  if (type !== 'application/json' && !/^[^/]+\/[^/]+\+json$/.test(type)) {
    const given = type === '' ? '' : `, not ${type}`
    throw new ServiceError('UnsupportedMediaTypeError', `Content-Type must be application/json${given}`)
  }
  const encoding = headers.get('Content-Encoding') ?? 'identity'
  if (encoding.toLowerCase() !== 'identity') {
    throw new ServiceError('UnsupportedMediaTypeError', `Content-Encoding ${encoding} is not supported`)
  }
}

function invalid(problem: string, cause: unknown): ServiceError {
  return new ServiceError('ValidationError', `The request body ${problem}`, { cause })
}

function timedOut(timeoutMs: number): ServiceError {
  return new ServiceError('RequestTimeoutError', `The request body did not arrive within ${timeoutMs} ms`)
}

function tooLarge(maxBytes: number): ServiceError {
  return new ServiceError(
    'PayloadTooLargeError',
    `The request body is larger than ${maxBytes} bytes; store large values elsewhere and send a reference`,
  )
}
