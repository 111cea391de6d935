import { pointerKeys } from '../lib/json.ts'
import type { Budget } from './budget.ts'
import type { Location, Violation } from './check.ts'
import type { CompiledSchema } from './compile.ts'
import { CircularReferenceError } from './errors.ts'
import { type Issue, toIssue } from './report.ts'

export interface ValidationResult {
  issues: Issue[]
  /** Why validation ended without a result: the budget is spent, or a keyword cannot be evaluated. Null otherwise. */
  abortedBy: unknown
}

/**
 * Validates a value that stands at `pointer`; empty for the whole document. Throws a `CircularReferenceError` for a
 * schema that never ends.
 */
export function validate(
  { check }: Pick<CompiledSchema, 'check'>,
  value: unknown,
  budget: Budget,
  pointer = '/',
): ValidationResult {
  const violations: Violation[] = []
  let abortedBy: unknown = null
  try {
    check(value, toLocation(pointer), { budget, violations, depth: 0 }, null)
  } catch (error) {
    if (error instanceof CircularReferenceError) throw error
    // If a violation was found before, the value is invalid anyway.
    if (violations.length === 0) abortedBy = error
  }
  const issues = violations.map(toIssue)
  // The location of the whole document has an empty key.
  return { issues: pointer === '' ? issues.map(withoutFirstKey) : issues, abortedBy }
}

function withoutFirstKey({ path, message }: Issue): Issue {
  return { path: path.slice(1), message }
}

function toLocation(pointer: string): Location {
  const [key = '', ...rest] = pointerKeys(pointer)
  return rest.reduce((parent: Location, key) => ({ parent, key }), { parent: null, key })
}
