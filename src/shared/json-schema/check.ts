/** What all keywords share: the form of a check, its budget, and how it reports violations. */
import { toPointer } from '../lib/json.ts'
import { BudgetExceededError, UnsupportedError } from './errors.ts'

/** Whether `value` is valid. Reports what is invalid to `context`. */
export type Check = (value: unknown, at: Location, context: Context, evaluated: Evaluated | null) => boolean

/** Where a value is: its key in its parent. The JSON Pointer is built only for what is reported. */
export interface Location {
  parent: Location | null
  key: string | number
}

/** One validation of one value. */
export interface Context {
  budget: Budget
  violations: Violation[]
  /** How many schemas are being applied, one inside the other. */
  depth: number
}

export interface Violation {
  at: Location
  message: string
}

/** What the keywords have evaluated in one object or array: input of `unevaluatedProperties` and `unevaluatedItems`. */
export interface Evaluated {
  /** A skipped keyword might have evaluated anything. */
  all: boolean
  keys: Set<string>
  items: Set<number>
}

/** Compiles the subschemas of a keyword. */
export interface Compiler {
  /**
   * Whether no keyword may be skipped: below `not`, for example, a subschema that accepts more makes the schema around
   * it accept less.
   */
  exact: boolean
  compile(schema: unknown): Check
  /** Throws a `SchemaError` where a keyword would have to be skipped. */
  compileExact(schema: unknown): Check
  /** The subschema that a `$ref` in `from` refers to. */
  resolve(reference: string, from: object): unknown
  budget: Budget
}

/** Compiles a keyword of `schema` with this `value`. Throws a `SchemaError` for what cannot be evaluated. */
export type CompileKeyword = (value: unknown, schema: Record<string, unknown>, compiler: Compiler) => Check

/**
 * Bounds the work of a compilation or a validation, in the units of `COST`. Time cannot bound it, because the clock
 * of workerd stands still during a request.
 */
export interface Budget {
  /** Throws a `BudgetExceededError` when nothing is left. */
  spend(units: number): void
}

export function createBudget(units: number): Budget {
  let left = units
  return {
    spend(cost) {
      left -= cost
      if (left < 0) throw new BudgetExceededError('the schema is too expensive to evaluate')
    },
  }
}

/** What each step costs, in units of about 50 ns: README.md. */
export const COST = {
  // Compilation
  indexSubschema: 60,
  resolveUrl: (length: number) => 60 + length / 10,
  compileSubschema: 10,
  // Measured before the JIT has optimized the code, as when a schema is compiled for the first time.
  compilePattern: (length: number, repetitions: number) => 1200 + 12 * length * repetitions,

  // Validation
  applySubschema: (keywords: number) => 3 + keywords,
  tryCheck: 12,
  reportViolation: 3,
  mergeEvaluated: (count: number) => 3 * count,
  checkUnevaluatedItem: 2,
  lookUpKey: 1,
  lookUpKeys: (count: number) => count / 2,
  // JavaScript engines store large objects as hash tables, whose keys they have to sort.
  listKeys: (count: number) => count * (count < 100 ? 1 : 8),
  countCharacters: (length: number) => length / 10,
  matchPattern: (length: number, unitsPerCharacter: number) => 20 + length * unitsPerCharacter,
  matchCharacter: (programSize: number) => 1 + programSize / 50,
  compareNumbers: (digits: number) => 20 + digits / 10,
  compareScalar: (length: number) => 20 + length / 10,
  compareExactly: (length: number) => 20 + length * 3,
  compareRounded: (length: number) => 20 + length * 5,

  // Examples
  exampleOfSubschema: (keywords: number) => 40 + 10 * keywords,
  // A class of characters is compiled.
  examplePatternToken: 60,
} as const

/** One thing wrong with a value; `path` is a JSON Pointer. */
export interface SchemaIssue {
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

export function toIssue({ at, message }: Violation): SchemaIssue {
  const keys: string[] = []
  for (let location: Location | null = at; location !== null; location = location.parent) {
    keys.push(String(location.key).slice(0, MAX_KEY_LENGTH))
  }
  return { path: toPointer(keys.reverse()), message }
}
