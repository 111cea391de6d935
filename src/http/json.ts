/** Parses request bodies and validates them with zod. */
import type { Context } from 'hono'
import type * as z from 'zod/mini'
import { type Issue, ServiceError } from '../domain/model/errors.ts'
import { MAX_JSON_DEPTH, parseJson } from '../lib/exact-json.ts'
import { toPointer } from '../lib/json-pointer.ts'
import { findJsonSyntaxError } from '../lib/json-syntax-error.ts'
import { type BodyLimits, readBody } from './body.ts'

/**
 * Reads and validates the body; a request without a body reads as an empty object.
 * Values of type `unknown` keep exact numbers.
 */
export type ReadJson = <T>(c: Context, schema: z.ZodMiniType<T>, options?: ReadOptions) => Promise<T>

export interface ReadOptions {
  /** A hint to append to the message when the schema rejects the body; null for none. */
  adviceFor?: (body: unknown) => string | null
}

export function jsonReader(limits: BodyLimits): ReadJson {
  return async (c, schema, { adviceFor } = {}) => {
    const text = await readBody(c.req.raw, limits)
    const body = text === '' ? {} : plainNumber(parse(text))
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
