/** What is wrong with a value of a request, where its schema does not say it. Zod itself says only "Invalid input". */
import type * as z from 'zod/mini'
import { nearest } from '../../../shared/lib/nearest.ts'

/** The response must not grow with the rejected request. */
export const MAX_ISSUES = 20

/** Undefined keeps the message of the schema. */
export function issueMessage(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'unrecognized_keys':
      return unknownKeys(issue)
    case 'invalid_type':
      return typeMessage(issue)
    case 'invalid_value':
      return `must be ${issue.values.map(quoted).join(' or ')}`
    case 'too_small':
      return issue.minimum === 1 ? 'must not be empty' : `must have at least ${issue.minimum} ${unitOf(issue.origin)}`
    case 'too_big':
      return `must have at most ${issue.maximum} ${unitOf(issue.origin)}`
    default:
      return undefined
  }
}

/** A line for each unknown key, because an issue of zod has one message for all. */
function unknownKeys({ keys, inst }: z.core.$ZodRawIssue<z.core.$ZodIssueUnrecognizedKeys>): string {
  const { shape = {} } = (inst?._zod.def ?? {}) as { shape?: object }
  const known = Object.keys(shape)
  return keys
    .slice(0, MAX_ISSUES)
    .map((key) => nearest(key, known))
    .map((meant) => `is not a known field${meant === null ? '' : `; did you mean ${meant}?`}`)
    .join('\n')
}

function typeMessage({ expected, input }: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidType>): string {
  if (input === undefined) return 'is required'
  if (JSON.isRawJSON(input)) return `must be ${withArticle(expected)}, not a number`
  return `must be ${withArticle(expected)}, not ${input === null ? 'null' : withArticle(Array.isArray(input) ? 'array' : typeof input)}`
}

function withArticle(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`
}

function quoted(value: unknown): string {
  return typeof value === 'string' ? `"${value}"` : String(value)
}

function unitOf(origin: string): string {
  return origin === 'string' ? 'characters' : 'elements'
}
