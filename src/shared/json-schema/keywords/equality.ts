/** `enum` and `const`, and the strings by which values are compared: equal values have equal keys. */

import { canonicalJson, isObject } from '../../lib/json.ts'
import { type Budget, type Check, COST, type Compiler, reconcile, report } from '../check.ts'

/** Numbers that a double cannot represent are equal when they are spelled alike. */
export function toExactKey(value: unknown, budget: Budget): string {
  const json = JSON.stringify(value)
  const isNested = isArrayOrObject(value)
  budget.spend(isNested ? COST.compareExactly(json.length) : COST.compareScalar(json.length))
  return isNested ? canonicalJson(value) : json
}

/** Numbers are equal when they round to the same double. */
export function toRoundedKey(value: unknown, budget: Budget): string {
  const json = JSON.stringify(value)
  const isNested = isArrayOrObject(value)
  budget.spend(isNested ? COST.compareRounded(json.length) : COST.compareScalar(json.length))
  if (isNested) return canonicalJson(JSON.parse(json))
  return JSON.isRawJSON(value) ? String(Number(json)) : json
}

/** Looks the value up in a set of keys: the cost does not depend on the number of `values`. */
export function oneOfValues(values: unknown[], { exact, budget }: Pick<Compiler, 'exact' | 'budget'>): Check {
  const roundedKeys = new Set(values.map((value) => toRoundedKey(value, budget)))
  const exactKeys = new Set(exact ? values.map((value) => toExactKey(value, budget)) : [])
  const holdsObjects = values.some(isArrayOrObject)
  const message = messageFor(values)
  return (value, at, context) => {
    if (isArrayOrObject(value) && !holdsObjects) return report(context, at, message)
    const someAccept = roundedKeys.has(toRoundedKey(value, context.budget))
    const allAccept = exact ? exactKeys.has(toExactKey(value, context.budget)) : someAccept
    return reconcile(allAccept, someAccept, exact) || report(context, at, message)
  }
}

// A message must not grow with the schema.
const MAX_LISTED_LENGTH = 200

function messageFor(values: unknown[]): string {
  const listed = values.map((value) => JSON.stringify(value)).join(', ')
  const isShort = listed.length <= MAX_LISTED_LENGTH
  if (values.length === 1) return isShort ? `must equal ${listed}` : 'must equal the constant in the schema'
  return isShort ? `must be one of ${listed}` : `must be one of the ${values.length} values in the schema`
}

function isArrayOrObject(value: unknown): boolean {
  return Array.isArray(value) || isObject(value)
}
