import { Validator } from '@cfworker/json-schema'
import type { JsonSchema } from '../protocol/catalog.ts'
import type { Issue } from './errors.ts'

// A caller mends a few faults at a time; the rest shows when those are gone.
const MAX_ISSUES = 20

/** What of `input` the schema refuses. Throws when the schema itself can't be used. */
export function checkInput(input: unknown, schema: JsonSchema): Issue[] {
  // Exact numbers are objects to a validator: it sees the plain doubles instead.
  const plain: unknown = JSON.parse(JSON.stringify(input))
  const { valid, errors } = new Validator(schema, '2020-12', false).validate(plain)
  if (valid) return []
  const issues = errors.map(({ instanceLocation, error }) => ({ path: `/input${instanceLocation.slice(1)}`, message: error }))
  // A fault far down is told again by every schema around it: the places that nothing lies below are the faults themselves.
  const own = issues.filter(({ path }) => !issues.some((other) => other.path.startsWith(`${path}/`)))
  return own.slice(0, MAX_ISSUES)
}
