/** What zod cannot describe alone: values of fields, and fields of a body that exclude each other. */
import * as z from 'zod/mini'
import { durationMs } from '../../../../shared/lib/duration.ts'
import { isObject } from '../../../../shared/lib/json.ts'
import { toRfc3339 } from '../../../../shared/lib/rfc3339.ts'
import { checkedString } from '../../../../shared/wire/checked-string.ts'
import { characterIssue } from '../../../../shared/wire/names.ts'
import { issueMessage } from '../../pipeline/issue-message.ts'
import { jsonForms, optional } from './json-forms.ts'

/** A time, written as the engine reads it. The document shows RFC 3339 alone: other forms are read, too. */
export function timeField(example: string) {
  return z
    .pipe(
      checkedString((text) => (toRfc3339(text) === null ? `must be a time like ${example}` : null)),
      z.transform((text) => toRfc3339(text) ?? text),
    )
    .register(jsonForms, {
      format: 'date-time',
      pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\\.[0-9]{1,9})?(?:Z|[+-][0-9]{2}:[0-9]{2})$',
    })
}

/** What `durationMs` accepts. */
export const DURATION_PATTERN = '[0-9]{1,15}(?:\\.[0-9]{1,15})? ?(?:ms|s|m|h|d)'

const NOT_ZERO = '(?![0.]+ ?[a-z])'

/** Accepts a number of milliseconds, or a string with a unit, and returns milliseconds. */
export function durationField(maxMs: number) {
  const message = `must be a number of milliseconds or a duration like "30s", greater than 0 and at most ${maxMs} ms`
  return z
    .transform((input, { issues }): number => {
      const ms = typeof input === 'string' ? durationMs(input) : input
      if (typeof ms === 'number' && ms > 0 && ms <= maxMs) return Math.ceil(ms)
      issues.push({ code: 'custom', input, message })
      return z.NEVER
    })
    .register(jsonForms, {
      anyOf: [
        { type: 'number', exclusiveMinimum: 0, maximum: maxMs },
        { type: 'string', pattern: `^${NOT_ZERO}${DURATION_PATTERN}$` },
      ],
    })
}

/** Validates with the schema that `choose` returns. Its issues name the key that is wrong; those of a union do not. */
export function chosenSchema<T>(choose: (input: unknown) => z.ZodMiniType<T>) {
  return z.transform((input, { issues }): T => {
    // Zod also calls this for an absent key, and ignores the issues. Creating them takes a third of a start's time.
    if (input === undefined) return z.NEVER
    const { data, error, success } = choose(input).safeParse(input, { error: issueMessage })
    if (success) return data
    issues.push(...error.issues.map((issue) => ({ ...issue, input }) as z.core.$ZodRawIssue))
    return z.NEVER
  })
}

/** An object of any values whose keys the engine can store. `reserved` are keys that another check rejects. */
function objectWithKeys(reserved: readonly string[] = []) {
  return z
    .transform((input, { issues }): Readonly<Record<string, unknown>> => {
      if (!isObject(input)) {
        issues.push({ code: 'invalid_type', expected: 'object', input })
        return z.NEVER
      }
      for (const key of Object.keys(input)) {
        const message = key === '__proto__' || key === '' ? 'is not a valid key' : characterIssue(key)
        if (message !== null) issues.push({ code: 'custom', path: [key], input, message })
      }
      return input
    })
    .register(jsonForms, {
      type: 'object',
      additionalProperties: {},
      propertyNames: validKeys(reserved),
    })
}

/** The valid keys as JSON Schema. */
export function validKeys(reserved: readonly string[] = []): { pattern: string } {
  return { pattern: `^(?!(?:${['__proto__', ...reserved].join('|')})$)[^\\u0000]+$` }
}

export const jsonObject = objectWithKeys()

/** Its JSON Schema excludes the keys that `start-fields.ts` rejects. */
export const memo = objectWithKeys(['\\$idempotency', '\\$asks', '\\$schedule'])

/** Temporal headers of a start or a message. */
export const headersField = optional(jsonObject, 'Temporal headers: JSON values by name')

/** Fields of a body of which only one may have arguments: a value, or instead of it one of several lists. */
export type Alternatives = readonly [value: string, ...lists: string[]]

/**
 * The fields that a body has. An empty list beside another field counts as absent: the Java clients of
 * openapi-generator send one for each list that their program has not set.
 */
export function fieldsIn(body: object, [value, ...lists]: Alternatives): readonly string[] {
  const given = new Map(Object.entries(body))
  const present = lists.filter((key) => given.has(key))
  const filled = present.filter((key) => !isEmptyList(given.get(key)))
  if (given.has(value)) return [value, ...filled]
  return filled.length === 0 ? present.slice(0, 1) : filled
}

export function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

/** A check that a body has at most one of the fields. */
export function atMostOneOf(keys: Alternatives, message: string) {
  return z.refine<object>((body) => fieldsIn(body, keys).length <= 1, message)
}

/** The bodies that have two of the fields, as JSON Schema. */
export function pairsOf([value, ...lists]: Alternatives): { required: string[] }[] {
  const keys = [value, ...lists]
  return keys.flatMap((key, index) => keys.slice(index + 1).map((other) => pairOf([key, other], lists)))
}

function pairOf(pair: string[], lists: readonly string[]) {
  const filled = pair.filter((key) => lists.includes(key)).map((key) => [key, { minItems: 1 }])
  return { required: pair, properties: Object.fromEntries(filled) }
}
