import { BudgetExceededError } from './errors.ts'

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
