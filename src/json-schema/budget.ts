import { BudgetExceededError } from './errors.ts'

/**
 * Bounds the work of a compilation or a validation, in the units of `costs.ts`. Time cannot bound it, because the clock
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
