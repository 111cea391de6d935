import * as z from 'zod/mini'
import { isObject } from '../../../lib/is-object.ts'
import { characterIssue } from '../../../protocol/names.ts'
import { jsonForms, optional } from './json-forms.ts'

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

/** The JSON form of the keys. */
export function validKeys(reserved: readonly string[] = []): { pattern: string } {
  return { pattern: `^(?!(?:${['__proto__', ...reserved].join('|')})$)[^\\u0000]+$` }
}

export const jsonObject = objectWithKeys()

/** The keys that `option-conflicts.ts` rejects. */
export const memo = objectWithKeys(['trace', '\\$idempotency'])

/** Temporal headers of a start or a message. */
export const headersField = optional(jsonObject, 'Temporal headers: JSON values by name')
