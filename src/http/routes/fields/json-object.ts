import * as z from 'zod/mini'
import { isObject } from '../../../lib/is-object.ts'
import { characterIssue } from '../../../protocol/names.ts'

/** An object of any values whose keys the engine can store. */
export const jsonObject = z.transform((input, { issues }): Readonly<Record<string, unknown>> => {
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

/** Temporal headers of a start or a message. */
export const headersField = z.exactOptional(jsonObject)
