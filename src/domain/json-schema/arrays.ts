/** What is asked of the items of an array. */
import { attempt, type Check, refuse } from './run.ts'
import { canonicalText } from './scalars.ts'

export function prefixItems(checks: Check[]): Check {
  return (value, at, run, seen) => {
    if (!Array.isArray(value)) return true
    let fits = true
    for (const [key, check] of checks.slice(0, value.length).entries()) {
      if (!check(value[key], { parent: at, key }, run, null)) fits = false
      seen?.items.add(key)
    }
    return fits
  }
}

export function itemsFrom(first: number, check: Check): Check {
  return (value, at, run, seen) => {
    if (!Array.isArray(value)) return true
    let fits = true
    for (let key = first; key < value.length; key++) {
      if (!check(value[key], { parent: at, key }, run, null)) fits = false
      seen?.items.add(key)
    }
    return fits
  }
}

export function contains(check: Check, least: number, most: number): Check {
  return (value, at, run, seen) => {
    if (!Array.isArray(value)) return true
    let count = 0
    for (const [key, item] of value.entries()) {
      if (attempt(check, item, { parent: at, key }, run, null) !== null) continue
      count++
      seen?.items.add(key)
    }
    if (count < least) return refuse(run, at, `must contain at least ${least} of a kind of item that it has ${count} of`)
    return count <= most || refuse(run, at, `must contain at most ${most} of a kind of item that it has ${count} of`)
  }
}

export const uniqueItems: Check = (value, at, run) => {
  if (!Array.isArray(value)) return true
  const known = new Map<string, number>()
  for (const [key, item] of value.entries()) {
    const json = canonicalText(item, run.work)
    const first = known.get(json)
    if (first !== undefined) return refuse(run, at, `must not have the same item twice, as at ${first} and ${key}`)
    known.set(json, key)
  }
  return true
}

export function unevaluatedItems(check: Check): Check {
  return (value, at, run, seen) => {
    if (!Array.isArray(value)) return true
    let fits = true
    for (const [key, item] of value.entries()) {
      run.work.spend(2)
      if (seen?.items.has(key)) continue
      if (!check(item, { parent: at, key }, run, null)) fits = false
      seen?.items.add(key)
    }
    return fits
  }
}
