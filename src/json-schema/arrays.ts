/** What is asked of the items of an array. */
import { exactText, roundedText } from './equality.ts'
import { attempt, type Check, decide, type Run, refuse } from './run.ts'
import { counted } from './scalars.ts'

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
    if (count < least)
      return refuse(run, at, `must contain at least ${counted(least, 'matching item')} (found ${count})`)
    return count <= most || refuse(run, at, `must contain at most ${counted(most, 'matching item')} (found ${count})`)
  }
}

export function uniqueItems(exact: boolean): Check {
  return (value, at, run) => {
    if (!Array.isArray(value)) return true
    const twins = twinsOf(value, exactText, run)
    const areDistinct = exact
      ? decide(twinsOf(value, roundedText, run) === null, twins === null, exact)
      : twins === null
    return areDistinct || refuse(run, at, `must not have the same item twice, as at ${twins?.join(' and ')}`)
  }
}

function twinsOf(items: unknown[], textOf: typeof exactText, run: Run): [number, number] | null {
  const known = new Map<string, number>()
  for (const [key, item] of items.entries()) {
    const text = textOf(item, run.work)
    const first = known.get(text)
    if (first !== undefined) return [first, key]
    known.set(text, key)
  }
  return null
}

export function unevaluatedItems(check: Check): Check {
  return (value, at, run, seen) => {
    if (!Array.isArray(value) || seen?.all) return true
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
