import { type Budget, createBudget } from '../../../json-schema/budget.ts'
import type { JsonSchema } from '../../../protocol/catalog.ts'

/** Divides the units among the schemas, by the size of each. What one does not need is left to those after it. */
export function sharesBySize(units: number, schemas: readonly JsonSchema[]): (schema: JsonSchema) => Budget {
  const sizes = new Map(schemas.map((schema) => [schema, JSON.stringify(schema).length]))
  let sizeLeft = schemas.reduce<number>((sum, schema) => sum + (sizes.get(schema) ?? 0), 0)
  let unitsLeft = units

  return (schema) => {
    const size = sizes.get(schema) ?? 0
    const share = createBudget(unitsLeft * Math.min(1, size / sizeLeft))
    sizeLeft -= size
    return {
      spend(cost) {
        share.spend(cost)
        unitsLeft -= cost
      },
    }
  }
}
