/** Reads request bodies with a limit on size and time, and stops at the first error. */
import { ServiceError } from '../domain/errors.ts'
import { deadlineSignal, unlessAborted } from '../lib/abort.ts'

export interface BodyLimits {
  maxBytes: number
  /** For the whole body. */
  timeoutMs: number
}

/** Rejects a request whose Content-Length is over the limit, before any of its body is read. */
export function rejectContentLength(request: Request, maxBytes: number): void {
  if (Number(request.headers.get('Content-Length')) > maxBytes) throw tooLarge(maxBytes)
}

/** The body as a string; empty when there is no body. Cancels the body as soon as it is rejected. */
export async function readBody(request: Request, { maxBytes, timeoutMs }: BodyLimits): Promise<string> {
  if (Number(request.headers.get('Content-Length')) > 0) requireJson(request.headers)
  if (request.body === null) return ''
  const reader = request.body.getReader()
  const deadline = deadlineSignal(Date.now() + timeoutMs)
  try {
    return await unlessAborted(readChunks(reader, request.headers, maxBytes), deadline.signal)
  } catch (cause) {
    cancel(reader)
    if (cause instanceof ServiceError) throw cause
    if (deadline.signal.aborted) throw timedOut(timeoutMs)
    throw invalid(request, cause)
  } finally {
    deadline.release()
  }
}

async function readChunks(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  headers: Headers,
  maxBytes: number,
): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const parts: string[] = []
  let length = 0
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    // Deno sends one empty chunk for a request without a body.
    if (chunk.value.byteLength === 0) continue
    requireJson(headers)
    length += chunk.value.byteLength
    if (length > maxBytes) throw tooLarge(maxBytes)
    parts.push(decoder.decode(chunk.value, { stream: true }))
  }
  parts.push(decoder.decode())
  return parts.join('')
}

/** Drops the rest of a rejected body. The rejection is the response, so an error here is ignored. */
function cancel(reader: ReadableStreamDefaultReader): void {
  reader.cancel().catch(() => {})
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

function invalid(request: Request, cause: unknown): ServiceError {
  const problem = request.signal.aborted ? 'is incomplete' : 'is not valid UTF-8'
  return new ServiceError('ValidationError', `The request body ${problem}`, { cause })
}

function timedOut(timeoutMs: number): ServiceError {
  return new ServiceError('RequestTimeoutError', `The request body did not arrive within ${timeoutMs} ms`)
}

function tooLarge(maxBytes: number): ServiceError {
  return new ServiceError('PayloadTooLargeError', `The request body is larger than ${maxBytes} bytes`)
}
