/**
 * Reads request bodies with a limit on size and time, parses them, and validates them with zod. Stops at the first
 * error.
 */
import type { Context } from 'hono'
import type * as z from 'zod/mini'
import { type Issue, ServiceError } from '../domain/model/errors.ts'
import { MAX_JSON_DEPTH, parseJson } from '../lib/exact-json.ts'
import { toPointer } from '../lib/json-pointer.ts'
import { findJsonSyntaxError } from '../lib/json-syntax-error.ts'
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
export function readBody(request: Request, limits: BodyLimits, acceptsForm = false): Promise<string> {
  const { headers } = request
  const length = headers.get('Content-Length')
  if (Number(length) > 0) requireType(headers, acceptsForm)
  // With a Content-Length the body cannot exceed the limit. Runtimes read it much faster as a whole than as a stream.
  return length !== null && !headers.has('Transfer-Encoding')
    ? readWhole(request, limits)
    : readStream(request, limits, acceptsForm)
}

async function readWhole(request: Request, { maxBytes, timeoutMs }: BodyLimits): Promise<string> {
  const bytes = await received(request.arrayBuffer(), timeoutMs)
  // Only possible if no HTTP server has parsed the request: a server ends the body at its Content-Length.
  if (bytes.byteLength > maxBytes) throw tooLarge(maxBytes)
  return decode(WHOLE, bytes)
}

const WHOLE = createDecoder()

async function readStream(
  { body, headers }: Request,
  { maxBytes, timeoutMs }: BodyLimits,
  acceptsForm: boolean,
): Promise<string> {
  if (body === null) return ''
  const reader = body.getReader()
  try {
    return await received(
      readChunks(reader, () => requireType(headers, acceptsForm), maxBytes),
      timeoutMs,
    )
  } catch (error) {
    // Drops the rest of a rejected body. The rejection is the response, so an error here is ignored.
    reader.cancel().catch(() => {})
    throw error
  }
}

async function readChunks(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  checkType: () => void,
  maxBytes: number,
): Promise<string> {
  const decoder = createDecoder()
  const parts: string[] = []
  let length = 0
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    const { value } = chunk
    // Deno sends one empty chunk for a request without a body.
    if (value.byteLength === 0) continue
    checkType()
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
    throw cause instanceof ServiceError ? cause : unreadable('is incomplete', cause)
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
    throw unreadable('is not valid UTF-8', cause)
  }
}

/** Whether the body is what a browser sends for a form. */
export function isForm(headers: Headers): boolean {
  return typeOf(headers) === 'application/x-www-form-urlencoded'
}

function typeOf(headers: Headers): string {
  return headers.get('Content-Type')?.split(';')[0]?.trim().toLowerCase() ?? ''
}

function requireType(headers: Headers, acceptsForm: boolean): void {
  const type = typeOf(headers)
  const isAccepted =
    type === 'application/json' || /^[^/]+\/[^/]+\+json$/.test(type) || (acceptsForm && isForm(headers))
  if (!isAccepted) {
    const given = type === '' ? '' : `, not ${type}`
    throw new ServiceError('UnsupportedMediaTypeError', `Content-Type must be application/json${given}`)
  }
  const encoding = headers.get('Content-Encoding') ?? 'identity'
  if (encoding.toLowerCase() !== 'identity') {
    throw new ServiceError('UnsupportedMediaTypeError', `Content-Encoding ${encoding} is not supported`)
  }
}

function unreadable(problem: string, cause: unknown): ServiceError {
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

/**
 * Reads and validates the body; a request without a body reads as an empty object.
 * Values of type `unknown` keep exact numbers.
 */
export type ReadJson = <T>(c: Context, schema: z.ZodMiniType<T>, options?: ReadOptions) => Promise<T>

export interface ReadOptions {
  /** Whether the body may also be a form, which reads as an object of strings. */
  acceptsForm?: boolean
  /** A hint to append to the message when the schema rejects the body; null for none. */
  adviceFor?: (body: unknown) => string | null
}

export function jsonReader(limits: BodyLimits): ReadJson {
  return async (c, schema, { adviceFor, acceptsForm = false } = {}) => {
    const text = await readBody(c.req.raw, limits, acceptsForm)
    const body = acceptsForm && isForm(c.req.raw.headers) ? fromForm(text) : fromJson(text)
    const valid = validateWith(schema, body, adviceFor)
    // Other requests may have taken the last places while the body arrived.
    await c.get('takePlace')?.()
    return valid
  }
}

/** The value as the schema returns it. Throws `ValidationError` if the schema rejects it. */
export function validateWith<T>(schema: z.ZodMiniType<T>, value: unknown, adviceFor?: ReadOptions['adviceFor']): T {
  const parsed = schema.safeParse(value, { error: typeMessage })
  if (parsed.success) return parsed.data
  throw invalid(parsed.error.issues.flatMap(toIssues), adviceFor?.(value) ?? null)
}

function fromForm(text: string): unknown {
  return Object.fromEntries(new URLSearchParams(text))
}

function fromJson(text: string): unknown {
  return text === '' ? {} : plainNumber(parse(text))
}

/** A body that is a large number is a `JSON.rawJSON` object, which the error must report as a number. */
function plainNumber(body: unknown): unknown {
  return JSON.isRawJSON(body) ? Number.NaN : body
}

function parse(text: string): unknown {
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
const MAX_ISSUES = 20
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
    .map((key) => ({ path: path + shortPointer([key]), message: 'is not a known field' }))
}

function shortPointer(keys: readonly PropertyKey[]): string {
  return toPointer(keys.map((key) => String(key).slice(0, MAX_KEY_LENGTH)))
}

/** The message for a value of the wrong type; undefined keeps zod's own message. */
function typeMessage(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== 'invalid_type') return undefined
  if (issue.input === undefined) return 'is required'
  if (JSON.isRawJSON(issue.input)) return `must be ${withArticle(issue.expected)}, not a number`
  return `must be ${withArticle(issue.expected)}, not ${issue.input === null ? 'null' : withArticle(Array.isArray(issue.input) ? 'array' : typeof issue.input)}`
}

function withArticle(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`
}
