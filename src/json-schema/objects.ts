/** What is asked of the properties of an object. */
import { isObject } from '../lib/is-object.ts'
import type { Compiler } from './compile.ts'
import { compilePattern, type Match } from './pattern.ts'
import { type Check, decide, type Run, refuse } from './run.ts'
import { entries } from './shape.ts'

export function required(keys: string[]): Check {
  return (value, at, run) => {
    if (!isObject(value)) return true
    run.work.spend(keys.length / 2)
    let fits = true
    for (const key of keys)
      if (!Object.hasOwn(value, key))
        fits = refuse(run, at, `must have the property ${JSON.stringify(key.slice(0, 200))}`)
    return fits
  }
}

export function whenHas(key: string, check: Check): Check {
  return (value, at, run, seen) => {
    run.work.spend(1)
    return !isObject(value) || !Object.hasOwn(value, key) || check(value, at, run, seen)
  }
}

export function propertyNames(check: Check): Check {
  return (value, at, run) => {
    let fits = true
    for (const key of keysOf(value, run)) if (!check(key, { parent: at, key }, run, null)) fits = false
    return fits
  }
}

export function properties(checks: [key: string, check: Check][]): Check {
  return (value, at, run, seen) => {
    if (!isObject(value)) return true
    run.work.spend(checks.length / 2)
    let fits = true
    for (const [key, check] of checks) {
      if (!Object.hasOwn(value, key)) continue
      if (!check(value[key], { parent: at, key }, run, null)) fits = false
      seen?.keys.add(key)
    }
    return fits
  }
}

export type PatternCheck = [match: Match, check: Check]

export function patternsOf(value: unknown, { checkOf, work }: Compiler): PatternCheck[] {
  return entries(value).map(([pattern, schema]) => [compilePattern(pattern, work), checkOf(schema)])
}

/** Workers may disagree on whether a key matches: then only some of them check its value. */
export function patternProperties(patterns: PatternCheck[], exact: boolean): Check {
  return (value, at, run, seen) => {
    let fits = true
    for (const key of keysOf(value, run)) {
      for (const [match, check] of patterns) {
        const verdict = match(key, run.work)
        if (verdict === 'no') continue
        const isExempt = decide(false, verdict === 'depends', exact)
        if (!isExempt && !check(valueAt(value, key), { parent: at, key }, run, null)) fits = false
        seen?.keys.add(key)
      }
    }
    return fits
  }
}

/** Those that neither `properties` nor `patternProperties` beside it speak of. */
export function additionalProperties(value: unknown, schema: Record<string, unknown>, compiler: Compiler): Check {
  const named = new Set(schema.properties === undefined ? [] : entries(schema.properties).map(([key]) => key))
  const patterns = schema.patternProperties === undefined ? [] : patternsOf(schema.patternProperties, compiler)
  const check = compiler.checkOf(value)
  return others(check, (key, run) => named.has(key) || patterns.some(([match]) => match(key, run.work) !== 'no'))
}

export function unevaluatedProperties(check: Check): Check {
  return others(check, (key, _run, seen) => seen !== null && (seen.all || seen.keys.has(key)))
}

function others(check: Check, isKnown: (key: string, run: Run, seen: Parameters<Check>[3]) => boolean): Check {
  return (value, at, run, seen) => {
    let fits = true
    for (const key of keysOf(value, run)) {
      if (isKnown(key, run, seen)) continue
      if (!check(valueAt(value, key), { parent: at, key }, run, null)) fits = false
      seen?.keys.add(key)
    }
    return fits
  }
}

/** None for what is no object. */
export function keysOf(value: unknown, run: Run): string[] {
  if (!isObject(value)) return []
  const keys = Object.keys(value)
  // Engines keep large objects as hash tables, whose keys they have to sort.
  run.work.spend(keys.length * (keys.length < 100 ? 1 : 8))
  return keys
}

function valueAt(value: unknown, key: string): unknown {
  return isObject(value) ? value[key] : undefined
}
