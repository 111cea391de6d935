/**
 * Reads request bodies with a limit on size and time, parses them, and validates them with zod. Stops at the first
 * error.
 */
import type { Context } from 'hono'
import type * as z from 'zod/mini'
import { MAX_JSON_DEPTH, parseJson, toPointer } from '../../../shared/lib/json.ts'
import { findJsonSyntaxError } from '../../../shared/lib/json-syntax-error.ts'
import { type Issue, ServiceError } from '../../model/errors.ts'
import type { RequestCheck } from '../context.ts'
import { issueMessage, MAX_ISSUES } from './issue-message.ts'

export const BULK_PATH = '/workflow/bulk'
/** Lines of JSON, as a bulk and its answer have them. */
export const NDJSON = 'application/x-ndjson'

export interface BodyLimits {
  maxBytes: number
  /** For the whole body. */
  timeoutMs: number
}

/**
 * Rejects a request whose Content-Length is over the limit, before any of its body is read. Bodies that are read by
 * lines have a limit for each line.
 */
export function rejectContentLength(maxBytes: number, readsLines: (path: string) => boolean): RequestCheck {
  return (c) => {
    if (Number(c.req.header('Content-Length')) > maxBytes && !readsLines(c.req.path)) throw tooLarge(maxBytes)
  }
}

/** The body as a string; empty when there is no body. Reading ends as soon as the body is rejected. */
export async function readBody(request: Request, limits: BodyLimits, acceptsForm = false): Promise<string> {
  const { headers } = request
  if (isWhole(headers)) {
    if (Number(headers.get('Content-Length')) > 0) requireType(headers, acceptsForm)
    return decodeBody(await readWhole(request, limits))
  }
  const decoder = createDecoder()
  const parts: string[] = []
  await readBodyStream(request, limits, (chunk) => {
    requireType(headers, acceptsForm)
    parts.push(decode(decoder, chunk, { stream: true }))
  })
  parts.push(decode(decoder))
  return parts.join('')
}

/**
 * Whether to read the body as a whole, which is much faster than as a stream. With a Content-Length, which has been
 * checked, the body cannot exceed the limit.
 */
function isWhole(headers: Headers): boolean {
  return headers.has('Content-Length') && !headers.has('Transfer-Encoding')
}

async function readWhole(request: Request, { maxBytes, timeoutMs }: BodyLimits): Promise<ArrayBuffer> {
  const bytes = await received(request.arrayBuffer(), timeoutMs)
  // Only possible if no HTTP server has parsed the request: a server ends the body at its Content-Length.
  if (bytes.byteLength > maxBytes) throw tooLarge(maxBytes)
  return bytes
}

const WHOLE = createDecoder()

export function decodeBody(bytes: ArrayBuffer | Uint8Array<ArrayBuffer>, charset = 'utf-8'): string {
  return decode(charset === 'utf-8' ? WHOLE : createDecoder(charset), bytes)
}

/** Passes on each chunk of the body. */
export async function readBodyStream(
  { body }: Request,
  { maxBytes, timeoutMs }: BodyLimits,
  onChunk: (chunk: Uint8Array) => void,
): Promise<void> {
  if (body === null) return
  const reader = body.getReader()
  try {
    await received(readChunks(reader, maxBytes, onChunk), timeoutMs)
  } catch (error) {
    // Drops the rest of a rejected body. The rejection is the response, so an error here is ignored.
    reader.cancel().catch(() => {})
    throw error
  }
}

async function readChunks(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  maxBytes: number,
  onChunk: (chunk: Uint8Array) => void,
): Promise<void> {
  let length = 0
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    const { value } = chunk
    // Deno sends one empty chunk for a request without a body.
    if (value.byteLength === 0) continue
    length += value.byteLength
    if (length > maxBytes) throw tooLarge(maxBytes)
    onChunk(value)
  }
}

/** Settles as `body` does; rejects with an error for the client if the body is late or the connection breaks. */
export async function received<T>(body: Promise<T>, timeoutMs: number, toError = timedOut): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(toError(timeoutMs)), timeoutMs)
  try {
    return await Promise.race([body, late])
  } catch (cause) {
    throw cause instanceof ServiceError ? cause : unreadable('is incomplete', cause)
  } finally {
    clearTimeout(timer)
  }
}

function createDecoder(charset = 'utf-8'): TextDecoder {
  try {
    return new TextDecoder(charset, { fatal: true })
  } catch (cause) {
    throw new ServiceError('UnsupportedMediaTypeError', 'The charset of the Content-Type is not supported', { cause })
  }
}

function decode(decoder: TextDecoder, ...bytes: Parameters<TextDecoder['decode']>): string {
  try {
    return decoder.decode(...bytes)
  } catch (cause) {
    throw unreadable(`is not valid ${decoder.encoding.toUpperCase()}`, cause)
  }
}

function requireType(headers: Headers, acceptsForm: boolean): void {
  const type = mediaTypeOf(headers)
  if (!isJsonType(type) && !(acceptsForm && type === FORM_TYPE)) throw unsupportedType(type, 'application/json')
  requireIdentity(headers)
}

/** The media type of the body in lower case, without parameters; empty without one. */
export function mediaTypeOf(headers: Headers): string {
  return headers.get('Content-Type')?.split(';')[0]?.trim().toLowerCase() ?? ''
}

export function isJsonType(type: string): boolean {
  return type === 'application/json' || /^[^/]+\/[^/]+\+json$/.test(type)
}

export const FORM_TYPE = 'application/x-www-form-urlencoded'

export function unsupportedType(type: string, supported: string): ServiceError {
  const given = type === '' ? '' : `, not ${type}`
  return new ServiceError('UnsupportedMediaTypeError', `Content-Type must be ${supported}${given}`)
}

export function requireIdentity(headers: Headers): void {
  const encoding = headers.get('Content-Encoding') ?? ''
  if (!/^(?:\s|,|identity)*$/i.test(encoding)) {
    throw new ServiceError('UnsupportedMediaTypeError', `Content-Encoding ${encoding} is not supported`)
  }
}

function unreadable(problem: string, cause: unknown): ServiceError {
  return new ServiceError('ValidationError', `The request body ${problem}`, { cause })
}

function timedOut(timeoutMs: number): ServiceError {
  return new ServiceError('RequestTimeoutError', `The request body did not arrive within ${timeoutMs} ms`)
}

export function tooLarge(maxBytes: number): ServiceError {
  return new ServiceError(
    'PayloadTooLargeError',
    `The request body is larger than ${maxBytes} bytes; store large values elsewhere and send a reference`,
  )
}

/**
 * Reads and validates the body; a request without a body reads as an empty object.
 * Values of type `unknown` keep exact numbers.
 */
export type ReadJson = <T>(c: Context, schema: z.ZodMiniType<T>, options?: ReadOptions) => Promise<T>

export interface ReadOptions {
  /** Whether the body may also be a form, which reads as an object of strings. */
  acceptsForm?: boolean
  /** Whether an empty body is not JSON, instead of an empty object. */
  rejectsEmpty?: boolean
  /** A hint to append to the message when the schema rejects the body; null for none. */
  adviceFor?: (body: unknown) => string | null
}

export function jsonReader(limits: BodyLimits): ReadJson {
  return async (c, schema, { adviceFor, acceptsForm = false, rejectsEmpty = false } = {}) => {
    const { raw } = c.req
    const text = await readBody(raw, limits, acceptsForm)
    const body = acceptsForm && mediaTypeOf(raw.headers) === FORM_TYPE ? fromForm(text) : fromJson(text, rejectsEmpty)
    const valid = validateWith(schema, body, adviceFor)
    // Other requests may have taken the last places while the body arrived.
    await c.get('takePlace')?.()
    return valid
  }
}

/** The value as the schema returns it. Throws `ValidationError` if the schema rejects it. */
export function validateWith<T>(schema: z.ZodMiniType<T>, value: unknown, adviceFor?: ReadOptions['adviceFor']): T {
  const parsed = schema.safeParse(value, { error: issueMessage })
  if (parsed.success) return parsed.data
  throw invalid(parsed.error.issues.flatMap(toIssues), adviceFor?.(value) ?? null)
}

/** The fields of a form: strings, and lists of strings where a field is repeated. */
export function fromForm(text: string, charset = 'utf-8'): Record<string, unknown> {
  const fields = new Map<string, string | string[]>()
  for (const [name, value] of charset === 'utf-8' ? new URLSearchParams(text) : fieldsIn(text, charset)) {
    const known = fields.get(name)
    if (Array.isArray(known)) known.push(value)
    else fields.set(name, known === undefined ? value : [known, value])
  }
  return Object.fromEntries(fields)
}

/** The names and values of a form whose escapes are bytes of another charset. */
function fieldsIn(text: string, charset: string): [name: string, value: string][] {
  const decoder = createDecoder(charset)
  const unescaped = (part: string) =>
    part.replaceAll('+', ' ').replace(/(?:%[\da-f]{2})+/gi, (escapes) =>
      decode(
        decoder,
        Uint8Array.from(escapes.slice(1).split('%'), (hex) => Number.parseInt(hex, 16)),
      ),
    )
  return text
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const [name = '', ...value] = pair.split('=')
      return [unescaped(name), unescaped(value.join('='))]
    })
}

function fromJson(text: string, rejectsEmpty: boolean): unknown {
  return text === '' && !rejectsEmpty ? {} : plainNumber(parseBody(text))
}

/** A body that is a large number is a `JSON.rawJSON` object, which the error must report as a number. */
function plainNumber(body: unknown): unknown {
  return JSON.isRawJSON(body) ? Number.NaN : body
}

/** The value of a body; numbers are exact. */
export function parseBody(text: string): unknown {
  try {
    return parseJson(text)
  } catch (cause) {
    throw new ServiceError('ValidationError', notJson(text), { cause })
  }
}

function notJson(text: string): string {
  const error = findJsonSyntaxError(text)
  if (error === null) return `The request body is nested deeper than ${MAX_JSON_DEPTH} levels`
  const { line, column, atEnd } = error
  return `The request body is not valid JSON: unexpected ${atEnd ? 'end' : 'character'} at line ${line}, column ${column}`
}

// The response must not grow with the rejected body.
const MAX_KEY_LENGTH = 200

function invalid(issues: Issue[], advice: string | null): ServiceError {
  const shown = issues.slice(0, MAX_ISSUES)
  const sentences = shown.map(({ path, message }) => `${path === '' ? 'The body' : path} ${message}`)
  const message = [...sentences, ...(advice === null ? [] : [advice])].join('; ')
  return new ServiceError('ValidationError', message, { details: { issues: shown } })
}

function toIssues(issue: z.core.$ZodIssue): Issue[] {
  const path = shortPointer(issue.path)
  if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }]
  return issue.keys
    .slice(0, MAX_ISSUES)
    .map((key, index) => ({ path: path + shortPointer([key]), message: issue.message.split('\n')[index] ?? '' }))
}

function shortPointer(keys: readonly PropertyKey[]): string {
  return toPointer(keys.map((key) => String(key).slice(0, MAX_KEY_LENGTH)))
}
