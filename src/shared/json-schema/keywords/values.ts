/** Keywords about a value: its type, its size and its pattern, the properties of an object, the items of an array. */
import { isObject } from '../../lib/json.ts'
import { type Check, COST, type Compiler, type Context, type Evaluated, reconcile, report, tryCheck } from '../check.ts'
import { compilePattern, type Match } from '../compile-pattern.ts'
import { SchemaError } from '../errors.ts'
import { toExactKey, toRoundedKey } from './equality.ts'
import { formatMessage } from './formats.ts'
import { asEntries, asNumber, asString } from './keyword-value.ts'
import { isInteger } from './numbers.ts'

const TYPES = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'])

export function type(keywordValue: unknown, _schema: object, { exact }: Compiler): Check {
  const types = [...new Set((Array.isArray(keywordValue) ? keywordValue : [keywordValue]).map(asString))]
  const unknown = types.find((name) => !TYPES.has(name))
  if (unknown !== undefined) throw new SchemaError(`unknown type ${JSON.stringify(unknown.slice(0, 100))}`)
  return (value, at, context) => {
    const actual = typeOf(value)
    if (types.includes(actual)) return true
    if (actual === 'number' && types.includes('integer') && isInteger(value, exact)) return true
    return report(context, at, `must be of type ${types.join(' or ')}, not ${actual}`)
  }
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (JSON.isRawJSON(value)) return 'number'
  return Array.isArray(value) ? 'array' : typeof value
}

/** The smallest and the largest size, because implementations count differently. */
interface Size {
  min: number
  max: number
}

/** Null for a value that the keyword does not apply to. */
type Measure = (value: unknown, context: Context) => Size | null

const PLURALS = { character: 'characters', item: 'items', 'matching item': 'matching items', property: 'properties' }

function counted(count: number, noun: keyof typeof PLURALS): string {
  return `${count} ${count === 1 ? noun : PLURALS[noun]}`
}

function sizeLimit(side: 'at least' | 'at most', noun: keyof typeof PLURALS, measure: Measure) {
  return (keywordValue: unknown, _schema: object, { exact }: Compiler): Check => {
    const limit = asNumber(keywordValue)
    const message = `must have ${side} ${counted(limit, noun)}`
    return (value, at, context) => {
      const size = measure(value, context)
      if (size === null) return true
      const allAccept = side === 'at least' ? size.min >= limit : size.max <= limit
      const someAccept = side === 'at least' ? size.max >= limit : size.min <= limit
      return reconcile(allAccept, someAccept, exact) || report(context, at, message)
    }
  }
}

/** Unicode characters, as JSON Schema counts, or UTF-16 code units, as JavaScript, Java and .NET count. */
function characterCount(value: unknown, context: Context): Size | null {
  if (typeof value !== 'string') return null
  context.budget.spend(COST.countCharacters(value.length))
  return { min: value.length - (value.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0), max: value.length }
}

function itemCount(value: unknown): Size | null {
  return Array.isArray(value) ? { min: value.length, max: value.length } : null
}

function propertyCount(value: unknown, context: Context): Size | null {
  if (!isObject(value)) return null
  const { length } = keysOf(value, context)
  return { min: length, max: length }
}

export const minLength = sizeLimit('at least', 'character', characterCount)
export const maxLength = sizeLimit('at most', 'character', characterCount)
export const minItems = sizeLimit('at least', 'item', itemCount)
export const maxItems = sizeLimit('at most', 'item', itemCount)
export const minProperties = sizeLimit('at least', 'property', propertyCount)
export const maxProperties = sizeLimit('at most', 'property', propertyCount)

// A message must not grow with the schema.
const MAX_SHOWN_LENGTH = 200

export function pattern(
  keywordValue: unknown,
  { format }: Record<string, unknown>,
  { exact, budget }: Compiler,
): Check {
  const source = asString(keywordValue)
  const match = compilePattern(source, budget)
  const message =
    source.length <= MAX_SHOWN_LENGTH ? `must match pattern "${source}"` : 'must match the pattern in the schema'
  return (value, at, context) => {
    if (typeof value !== 'string') return true
    const result = match(value, context.budget)
    if (reconcile(result === 'yes', result !== 'no', exact)) return true
    return report(context, at, formatMessage(format, value) ?? message)
  }
}

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
function keysOf(value: unknown, context: Context): string[] {
  if (!isObject(value)) return []
  const keys = Object.keys(value)
  context.budget.spend(COST.listKeys(keys.length))
  return keys
}

function valueAt(value: unknown, key: string): unknown {
  return isObject(value) ? value[key] : undefined
}

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
