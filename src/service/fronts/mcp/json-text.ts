/** Arguments that a host has sent as JSON in a string, as some do with objects, arrays and numbers. */

import { isObject, parseJson, toPointer } from '../../../shared/lib/json.ts'
import { attemptsOf, type Call } from '../../model/call.ts'
import { hasErrorName } from '../../model/errors.ts'

type Given = Readonly<Record<string, unknown>>

// Each attempt reads the JSON in the strings that the one before has found.
const MAX_ATTEMPTS = 4

/**
 * Calls `use`. If it rejects strings of `given`, calls it again with what they are as JSON. A string that is not
 * rejected stays a string. `use` must have no effect when it rejects with `issues`.
 */
export async function withJsonText<T>(
  given: Given,
  call: Call,
  use: (given: Given, call: Call) => Promise<T>,
): Promise<T> {
  const nextAttempt = attemptsOf(call)
  const read = new Set<string>()
  let [values, first] = [given, undefined as unknown]
  for (let attempt = 1; ; attempt++) {
    try {
      return await use(values, nextAttempt())
    } catch (error) {
      first ??= error
      const paths = rejectedPaths(error)
      // The JSON is rejected as well.
      if (paths.some((path) => read.has(path))) throw first
      const found = attempt < MAX_ATTEMPTS ? readStrings(values, '', new Set(paths), read) : values
      if (found === values || !isObject(found)) throw error
      values = found
    }
  }
}

function rejectedPaths(error: unknown): string[] {
  return hasErrorName(error, 'ValidationError') ? (error.details.issues ?? []).map(({ path }) => path) : []
}

/** The value with the JSON of the strings at these paths, which are added to `read`; the same value without such. */
function readStrings(value: unknown, path: string, paths: ReadonlySet<string>, read: Set<string>): unknown {
  if (typeof value === 'string') return paths.has(path) ? readString(value, path, read) : value
  if (typeof value !== 'object' || value === null || ![...paths].some((other) => other.startsWith(`${path}/`)))
    return value
  const entries = Object.entries(value)
  const found = entries.map(([key, item]) => readStrings(item, path + toPointer([key]), paths, read))
  if (found.every((item, index) => item === entries[index]?.[1])) return value
  return Array.isArray(value) ? found : Object.fromEntries(entries.map(([key], index) => [key, found[index]]))
}

function readString(text: string, path: string, read: Set<string>): unknown {
  try {
    const value = parseJson(text)
    if (typeof value === 'string') return text
    read.add(path)
    return value
  } catch {
    // Not JSON: the string stays as it is, and the call is rejected again.
    return text
  }
}
