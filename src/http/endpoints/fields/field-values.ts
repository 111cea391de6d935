/** Values of fields that zod cannot describe alone. */
import * as z from 'zod/mini'
import { durationMs } from '../../../lib/duration.ts'
import { isObject } from '../../../lib/json.ts'
import { characterIssue } from '../../../protocol/names.ts'
import { jsonForms, optional } from './json-forms.ts'

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

/** `isTime` as JSON Schema, which cannot express how many days a month has. */
export const TIME_FORM = {
  format: 'date-time',
  pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\\.[0-9]{1,9})?(?:Z|[+-][0-9]{2}:[0-9]{2})$',
}

/** Whether it is a time as RFC 3339 writes it. */
export function isTime(text: string): boolean {
  return TIME.test(text) && !Number.isNaN(Date.parse(text))
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
    const { data, error, success } = choose(input).safeParse(input, { reportInput: true })
    if (success) return data
    for (const { message, ...issue } of error.issues)
      issues.push({ ...issue, ...(issue.code !== 'invalid_type' && { message }) } as z.core.$ZodRawIssue)
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

/** Its JSON Schema excludes the keys that `workflow-options.ts` rejects. */
export const memo = objectWithKeys(['trace', '\\$idempotency', '\\$asks'])

/** Temporal headers of a start or a message. */
export const headersField = optional(jsonObject, 'Temporal headers: JSON values by name')
