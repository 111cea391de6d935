/** Values that are equal have the same text. */
import { canonicalJson } from '../lib/canonical-json.ts'
import { isObject } from '../lib/is-object.ts'
import { type Check, decide, refuse, type Work } from './run.ts'

/** Numbers that a double can't hold are equal when they are spelled alike. */
export function exactText(value: unknown, work: Work): string {
  const json = JSON.stringify(value)
  work.spend(isComposed(value) ? 20 + json.length * 3 : 20 + json.length / 10)
  return isComposed(value) ? canonicalJson(value) : json
}

/** Numbers are equal when they are the same double. */
export function roundedText(value: unknown, work: Work): string {
  const json = JSON.stringify(value)
  work.spend(isComposed(value) ? 20 + json.length * 5 : 20 + json.length / 10)
  if (isComposed(value)) return canonicalJson(JSON.parse(json))
  return JSON.isRawJSON(value) ? String(Number(json)) : json
}

/** For `enum` and `const`: by text, so that it matters little how many values there are. */
export function oneOfValues(values: unknown[], { exact, work }: { exact: boolean; work: Work }): Check {
  const rounded = new Set(values.map((value) => roundedText(value, work)))
  const exactly = new Set(exact ? values.map((value) => exactText(value, work)) : [])
  const holdsObjects = values.some(isComposed)
  const message = `must be ${listOf(values)}`
  return (value, at, run) => {
    if (isComposed(value) && !holdsObjects) return refuse(run, at, message)
    const possible = rounded.has(roundedText(value, run.work))
    const certain = exact ? exactly.has(exactText(value, run.work)) : possible
    return decide(certain, possible, exact) || refuse(run, at, message)
  }
}

// An issue says what to send, but must not grow with the schema.
const MAX_LISTED_LENGTH = 200

function listOf(values: unknown[]): string {
  const listed = values.map((value) => JSON.stringify(value)).join(', ')
  if (listed.length > MAX_LISTED_LENGTH) return `one of the ${values.length} values that the schema lists`
  return values.length === 1 ? listed : `one of ${listed}`
}

function isComposed(value: unknown): boolean {
  return Array.isArray(value) || isObject(value)
}
