/** Reporting violations, and checks whose violations are not reported. */
import { toPointer } from '../lib/json.ts'
import { COST } from './budget.ts'
import type { Check, Context, Evaluated, Location, Violation } from './check.ts'
import { UnsupportedError } from './errors.ts'

/** One thing wrong with a value; `path` is a JSON Pointer. */
export interface Issue {
  path: string
  message: string
}

// Callers fix a few problems at a time; the others are reported after that.
const MAX_VIOLATIONS = 20

/** Always false, for checks to return. */
export function report({ budget, violations }: Context, at: Location, message: string): false {
  budget.spend(COST.reportViolation)
  if (violations.length < MAX_VIOLATIONS) violations.push({ at, message })
  return false
}

/** Always false, like `report`. */
export function reportAll({ violations }: Context, found: Violation[]): false {
  violations.push(...found.slice(0, MAX_VIOLATIONS - violations.length))
  return false
}

/** Runs a check without reporting: null when the value is valid, its violations otherwise. */
export function tryCheck(
  check: Check,
  value: unknown,
  at: Location,
  context: Context,
  evaluated: Evaluated | null,
): Violation[] | null {
  context.budget.spend(COST.tryCheck)
  const { violations } = context
  context.violations = []
  const isValid = check(value, at, context, evaluated)
  const found = context.violations
  context.violations = violations
  return isValid ? null : found
}

/**
 * The result of a check on which implementations of JSON Schema disagree: they count characters and round numbers
 * differently. A value that some of them accept is valid.
 *
 * Throws an `UnsupportedError` inside `not` and the like (`exact`), where that would reject values that are valid.
 */
export function reconcile(allAccept: boolean, someAccept: boolean, exact: boolean): boolean {
  if (exact && allAccept !== someAccept) throw new UnsupportedError('implementations disagree on the result')
  return someAccept
}

/** An issue must not grow with the schema or the value. */
export const MAX_KEY_LENGTH = 200

export function toIssue({ at, message }: Violation): Issue {
  const keys: string[] = []
  for (let location: Location | null = at; location !== null; location = location.parent) {
    keys.push(String(location.key).slice(0, MAX_KEY_LENGTH))
  }
  return { path: toPointer(keys.reverse()), message }
}
