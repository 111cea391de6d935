/** How a body is read: counted as it comes, against the clock, and no further than the first fault. */
import { ServiceError } from '../domain/errors.ts'

export interface BodyLimits {
  maxBytes: number
  /** For the whole body. */
  timeoutMs: number
}

/** Rejects before the body is read when it says itself that it is too large. */
export function refuseDeclaredLength(request: Request, maxBytes: number): void {
  if (Number(request.headers.get('Content-Length')) > maxBytes) throw tooLarge(maxBytes)
}

/** Empty when there is no body. Leaves off at once where the body is refused. */
export async function readBody(request: Request, { maxBytes, timeoutMs }: BodyLimits): Promise<string> {
  if (Number(request.headers.get('Content-Length')) > 0) requireJson(request.headers)
  if (request.body === null) return ''
  const reader = request.body.getReader()
  let late = false
  const timer = setTimeout(() => {
    late = true
    cancel(reader)
  }, timeoutMs)
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true })
    const parts: string[] = []
    let length = 0
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      // Deno's way to say that there is no body.
      if (part.value.byteLength === 0) continue
      requireJson(request.headers)
      length += part.value.byteLength
      if (length > maxBytes) throw tooLarge(maxBytes)
      parts.push(decoder.decode(part.value, { stream: true }))
    }
    if (late) throw tooLate(timeoutMs)
    parts.push(decoder.decode())
    return parts.join('')
  } catch (cause) {
    cancel(reader)
    if (cause instanceof ServiceError) throw cause
    // On workerd a body that is let go of is an error.
    if (late) throw tooLate(timeoutMs)
    const message = request.signal.aborted ? 'The request body is incomplete' : 'The request body is not valid UTF-8'
    throw new ServiceError('ValidationError', message, { cause })
  } finally {
    clearTimeout(timer)
  }
}

/** Lets the rest of the body go. That it is refused is known already. */
function cancel(reader: ReadableStreamDefaultReader): void {
  reader.cancel().catch(() => {})
}

function requireJson(headers: Headers): void {
  const type = headers.get('Content-Type')?.split(';')[0]?.trim().toLowerCase() ?? ''
  if (type !== 'application/json' && !/^[^/]+\/[^/]+\+json$/.test(type)) {
    throw new ServiceError(
      'UnsupportedMediaTypeError',
      `Content-Type must be application/json${type === '' ? '' : `, not ${type}`}`,
    )
  }
  const encoding = headers.get('Content-Encoding') ?? 'identity'
  if (encoding.toLowerCase() !== 'identity') {
    throw new ServiceError('UnsupportedMediaTypeError', `Content-Encoding ${encoding} is not supported`)
  }
}

function tooLate(timeoutMs: number): ServiceError {
  return new ServiceError('RequestTimeoutError', `The request body did not arrive within ${timeoutMs} ms`)
}

function tooLarge(maxBytes: number): ServiceError {
  return new ServiceError('PayloadTooLargeError', `The request body is larger than ${maxBytes} bytes`)
}
