/** Keywords about objects. */
import { isObject } from '../../lib/json.ts'
import { type Check, COST, type Compiler, type Context, type Evaluated, reconcile, report } from '../check.ts'
import { compilePattern, type Match } from '../compile-pattern.ts'
import { asEntries } from './keyword-value.ts'

export function required(keys: string[]): Check {
  return (value, at, context) => {
    if (!isObject(value)) return true
    context.budget.spend(COST.lookUpKeys(keys.length))
    let isValid = true
    for (const key of keys) {
      if (Object.hasOwn(value, key)) continue
      isValid = report(context, { parent: at, key }, 'is required')
    }
    return isValid
  }
}

/** For `dependentRequired` and `dependentSchemas`. */
export function ifHasProperty(key: string, check: Check): Check {
  return (value, at, context, evaluated) => {
    context.budget.spend(COST.lookUpKey)
    return !isObject(value) || !Object.hasOwn(value, key) || check(value, at, context, evaluated)
  }
}

export function propertyNames(check: Check): Check {
  return (value, at, context) => {
    let isValid = true
    for (const key of keysOf(value, context)) if (!check(key, { parent: at, key }, context, null)) isValid = false
    return isValid
  }
}

export function properties(checks: [key: string, check: Check][]): Check {
  return (value, at, context, evaluated) => {
    if (!isObject(value)) return true
    context.budget.spend(COST.lookUpKeys(checks.length))
    let isValid = true
    for (const [key, check] of checks) {
      if (!Object.hasOwn(value, key)) continue
      if (!check(value[key], { parent: at, key }, context, null)) isValid = false
      evaluated?.keys.add(key)
    }
    return isValid
  }
}

type CompiledPattern = [match: Match, check: Check]

function compilePatterns(keywordValue: unknown, { compile, budget }: Compiler): CompiledPattern[] {
  return asEntries(keywordValue).map(([pattern, schema]) => [compilePattern(pattern, budget), compile(schema)])
}

export function patternProperties(keywordValue: unknown, _schema: object, compiler: Compiler): Check {
  const patterns = compilePatterns(keywordValue, compiler)
  return (value, at, context, evaluated) => {
    let isValid = true
    for (const key of keysOf(value, context)) {
      for (const [match, check] of patterns) {
        const result = match(key, context.budget)
        if (result === 'no') continue
        // If implementations disagree on whether the key matches, only some of them check its value.
        const isExempt = reconcile(false, result === 'ambiguous', compiler.exact)
        if (!isExempt && !check(valueAt(value, key), { parent: at, key }, context, null)) isValid = false
        evaluated?.keys.add(key)
      }
    }
    return isValid
  }
}

/** Checks what neither `properties` nor `patternProperties` of the same schema names. */
export function additionalProperties(
  keywordValue: unknown,
  schema: Record<string, unknown>,
  compiler: Compiler,
): Check {
  const named = new Set(schema.properties === undefined ? [] : asEntries(schema.properties).map(([key]) => key))
  const patterns = schema.patternProperties === undefined ? [] : compilePatterns(schema.patternProperties, compiler)
  return propertiesExcept(
    (key, context) => named.has(key) || patterns.some(([match]) => match(key, context.budget) !== 'no'),
    compiler.compile(keywordValue),
  )
}

export function unevaluatedProperties(check: Check): Check {
  return propertiesExcept(
    (key, _context, evaluated) => evaluated !== null && (evaluated.all || evaluated.keys.has(key)),
    check,
  )
}

function propertiesExcept(
  isExempt: (key: string, context: Context, evaluated: Evaluated | null) => boolean,
  check: Check,
): Check {
  return (value, at, context, evaluated) => {
    let isValid = true
    for (const key of keysOf(value, context)) {
      if (isExempt(key, context, evaluated)) continue
      if (!check(valueAt(value, key), { parent: at, key }, context, null)) isValid = false
      evaluated?.keys.add(key)
    }
    return isValid
  }
}

/** Empty if the value is not an object. */
export function keysOf(value: unknown, context: Context): string[] {
  if (!isObject(value)) return []
  const keys = Object.keys(value)
  context.budget.spend(COST.listKeys(keys.length))
  return keys
}

function valueAt(value: unknown, key: string): unknown {
  return isObject(value) ? value[key] : undefined
}
