/** The one way a body is parsed and checked. */
import type { Context } from 'hono'
import type * as z from 'zod/mini'
import { type Issue, ServiceError } from '../domain/errors.ts'
import { MAX_JSON_DEPTH, parseJson } from '../lib/exact-json.ts'
import { toPointer } from '../lib/json-pointer.ts'
import { findJsonFault } from '../lib/json-syntax-error.ts'
import { type BodyLimits, readBody } from './body.ts'

/** The body, checked; no body at all reads as an empty object. What the schema passes on unchecked stays exactly as it came. */
export type ReadJson = <T>(c: Context, schema: z.ZodMiniType<T>, options?: ReadOptions) => Promise<T>

export interface ReadOptions {
  /** What to do about a body that the schema refuses; null when there is nothing to say. */
  adviceFor?: (body: unknown) => string | null
}

export function jsonReader(limits: BodyLimits): ReadJson {
  return async (c, schema, { adviceFor } = {}) => {
    const text = await readBody(c.req.raw, limits)
    const body = text === '' ? {} : plainNumber(parse(text))
    const parsed = schema.safeParse(body, { error: phrase })
    if (parsed.success) return parsed.data
    throw invalid(parsed.error.issues.flatMap(toIssues), adviceFor?.(body) ?? null)
  }
}

/** A body that is one number is no object, however exact it is. */
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
  const fault = findJsonFault(text)
  if (fault === null) return `The request body is nested deeper than ${MAX_JSON_DEPTH} levels`
  const { line, column, atEnd } = fault
  return `The request body is not valid JSON: unexpected ${atEnd ? 'end' : 'character'} at line ${line}, column ${column}`
}

// More tell nobody anything, and an answer must not grow with what is refused.
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

/** Our words for zod's commonest complaint; undefined leaves zod's own. */
function phrase(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== 'invalid_type') return undefined
  if (issue.input === undefined) return 'is required'
  if (JSON.isRawJSON(issue.input)) return `must be ${withArticle(issue.expected)}, not a number`
  return `must be ${withArticle(issue.expected)}, not ${issue.input === null ? 'null' : withArticle(Array.isArray(issue.input) ? 'array' : typeof issue.input)}`
}

function withArticle(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`
}
