import { expect, test } from 'vitest'
import { numbers } from '../../../../../dev/hostile-schemas.ts'
import { BudgetExceededError } from '../../../../../src/shared/json-schema/errors.ts'
import { sharesBySize } from '../../../../../src/shared/json-schema/published/published-schema.ts'
import type { JsonSchema } from '../../../../../src/shared/wire/catalog.ts'

const SMALL = { type: 'string' }
const LARGE = { enum: numbers(50) }

test('sharesBySize: all schemas together get no more than the units, each a part of them by its size', () => {
  const units = unitsOf([SMALL, LARGE, SMALL], [1e6, 1e6, 1e6])

  expect(Math.abs(Number(units[0]) - Number(units[2]))).toBeLessThanOrEqual(1)
  expect(units.reduce((sum, one) => sum + one)).toBeLessThanOrEqual(1000)
  expect(units[1]).toBeGreaterThan(5 * Number(units[0]))
})

test('sharesBySize: what a schema does not need is left to those after it', () => {
  expect(unitsOf([SMALL, SMALL], [100, 1e6])).toEqual([100, 900])
})

/** How many of 1000 units each schema can spend if it wants that many. */
function unitsOf(schemas: JsonSchema[], wanted: number[]): number[] {
  const budgetOf = sharesBySize(1000, schemas)
  return schemas.map((schema, at) => spend(budgetOf(schema), Number(wanted[at])))
}

function spend(budget: { spend(units: number): void }, wanted: number): number {
  let spent = 0
  try {
    for (; spent < wanted; spent++) budget.spend(1)
  } catch (error) {
    expect(error).toBeInstanceOf(BudgetExceededError)
  }
  return spent
}
