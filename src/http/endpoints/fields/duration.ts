import * as z from 'zod/mini'
import { durationMs } from '../../../lib/duration.ts'
import { jsonForms } from './json-forms.ts'

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
