/** The one way a body is parsed and checked. */
import type { Context } from 'hono'
import type * as z from 'zod/mini'
import { type Issue, ServiceError } from '../domain/errors.ts'
import { MAX_JSON_DEPTH, parseJson } from '../protocol/json.ts'
import { type BodyLimits, readBody } from './body.ts'

/** The body, checked; no body at all reads as an empty object. What the schema passes on unchecked stays exactly as it came. */
export type ReadJson = <T>(c: Context, schema: z.ZodMiniType<T>) => Promise<T>

export function jsonReader(limits: BodyLimits): ReadJson {
  return async (c, schema) => {
    const text = await readBody(c.req.raw, limits)
    const parsed = schema.safeParse(text === '' ? {} : plainNumber(parse(text)), { error: phrase })
    if (parsed.success) return parsed.data
    throw invalid(parsed.error.issues.flatMap(toIssues))
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
    // The parser's own words quote the body.
    throw new ServiceError('ValidationError', `The body is not JSON, or is nested deeper than ${MAX_JSON_DEPTH} levels`, { cause })
  }
}

// More tell nobody anything, and an answer must not grow with what is refused.
const MAX_ISSUES = 20
const MAX_PATH_LENGTH = 200

function invalid(issues: Issue[]): ServiceError {
  const shown = issues.slice(0, MAX_ISSUES)
  const message = shown.map(({ path, message }) => `${path === '' ? 'The body' : path} ${message}`).join('; ')
  return new ServiceError('ValidationError', message, { details: { issues: shown } })
}

function toIssues(issue: z.core.$ZodIssue): Issue[] {
  const path = issue.path.map((part) => `/${escapePointer(String(part))}`).join('')
  if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }]
  return issue.keys.slice(0, MAX_ISSUES).map((key) => ({ path: `${path}/${escapePointer(key)}`, message: 'is not a known key' }))
}

function escapePointer(part: string): string {
  return part.slice(0, MAX_PATH_LENGTH).replaceAll('~', '~0').replaceAll('/', '~1')
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
