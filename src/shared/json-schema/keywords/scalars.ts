/** `type`, `pattern`, and limits on the size of a value. */
import { isObject } from '../../lib/json.ts'
import { type Check, COST, type Compiler, type Context, reconcile, report } from '../check.ts'
import { compilePattern } from '../compile-pattern.ts'
import { SchemaError } from '../errors.ts'
import { formatMessage } from './formats.ts'
import { asNumber, asString } from './keyword-value.ts'
import { isInteger } from './numbers.ts'
import { keysOf } from './objects.ts'

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

export function counted(count: number, noun: keyof typeof PLURALS): string {
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
function characters(value: unknown, context: Context): Size | null {
  if (typeof value !== 'string') return null
  context.budget.spend(COST.countCharacters(value.length))
  return { min: value.length - (value.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0), max: value.length }
}

function items(value: unknown): Size | null {
  return Array.isArray(value) ? { min: value.length, max: value.length } : null
}

function properties(value: unknown, context: Context): Size | null {
  if (!isObject(value)) return null
  const { length } = keysOf(value, context)
  return { min: length, max: length }
}

export const minLength = sizeLimit('at least', 'character', characters)
export const maxLength = sizeLimit('at most', 'character', characters)
export const minItems = sizeLimit('at least', 'item', items)
export const maxItems = sizeLimit('at most', 'item', items)
export const minProperties = sizeLimit('at least', 'property', properties)
export const maxProperties = sizeLimit('at most', 'property', properties)

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
