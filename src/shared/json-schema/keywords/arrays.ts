/** Keywords about arrays. */
import { type Check, COST, type Context, reconcile, report, tryCheck } from '../check.ts'
import { toExactKey, toRoundedKey } from './equality.ts'
import { counted } from './scalars.ts'

export function prefixItems(checks: Check[]): Check {
  return (value, at, context, evaluated) => {
    if (!Array.isArray(value)) return true
    let isValid = true
    for (const [key, check] of checks.slice(0, value.length).entries()) {
      if (!check(value[key], { parent: at, key }, context, null)) isValid = false
      evaluated?.items.add(key)
    }
    return isValid
  }
}

/** Checks all items from the index `first` on. */
export function itemsFrom(first: number, check: Check): Check {
  return (value, at, context, evaluated) => {
    if (!Array.isArray(value)) return true
    let isValid = true
    for (let key = first; key < value.length; key++) {
      if (!check(value[key], { parent: at, key }, context, null)) isValid = false
      evaluated?.items.add(key)
    }
    return isValid
  }
}

export function contains(check: Check, min: number, max: number): Check {
  return (value, at, context, evaluated) => {
    if (!Array.isArray(value)) return true
    let count = 0
    for (const [key, item] of value.entries()) {
      if (tryCheck(check, item, { parent: at, key }, context, null) !== null) continue
      count++
      evaluated?.items.add(key)
    }
    if (count < min)
      return report(context, at, `must contain at least ${counted(min, 'matching item')} (found ${count})`)
    return count <= max || report(context, at, `must contain at most ${counted(max, 'matching item')} (found ${count})`)
  }
}

export function uniqueItems(exact: boolean): Check {
  return (value, at, context) => {
    if (!Array.isArray(value)) return true
    const duplicates = findDuplicates(value, toExactKey, context)
    const areUnique = duplicates === null
    const isValid = exact
      ? reconcile(findDuplicates(value, toRoundedKey, context) === null, areUnique, exact)
      : areUnique
    return (
      isValid || report(context, at, `must not have duplicate items (items ${duplicates?.join(' and ')} are equal)`)
    )
  }
}

function findDuplicates(items: unknown[], toKey: typeof toExactKey, context: Context): [number, number] | null {
  const indexes = new Map<string, number>()
  for (const [index, item] of items.entries()) {
    const key = toKey(item, context.budget)
    const first = indexes.get(key)
    if (first !== undefined) return [first, index]
    indexes.set(key, index)
  }
  return null
}

export function unevaluatedItems(check: Check): Check {
  return (value, at, context, evaluated) => {
    if (!Array.isArray(value) || evaluated?.all) return true
    let isValid = true
    for (const [key, item] of value.entries()) {
      context.budget.spend(COST.checkUnevaluatedItem)
      if (evaluated?.items.has(key)) continue
      if (!check(item, { parent: at, key }, context, null)) isValid = false
      evaluated?.items.add(key)
    }
    return isValid
  }
}
