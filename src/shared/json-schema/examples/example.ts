/** Creates an example of a value that a JSON Schema allows, in bounded time. */
import { isObject } from '../../lib/json.ts'
import type { Budget } from '../check.ts'
import { compileSchema, type JsonSchema, validateValue } from '../compile.ts'
import { BudgetExceededError, CircularReferenceError, SchemaError } from '../errors.ts'
import { indexSchema, type SchemaIndex } from '../schema-index.ts'
import { arrayOrEmpty, type FlatSchema, flatSchema } from './flat-schema.ts'
import { numberExamples, stringExamples } from './scalar-examples.ts'

export interface Example {
  value: unknown
  /** Whether the schema allows the value. For some schemas, such as those with `not`, no valid example may be found. */
  isValid: boolean
}

interface Attempt {
  index: SchemaIndex
  budget: Budget
  /** Which of several alternatives is taken. */
  choice: number
  /** Whether `examples` and `default` are taken, which a schema may contradict. */
  usesHints: boolean
}

const ATTEMPTS = [
  { choice: 0, usesHints: true },
  { choice: 0, usesHints: false },
  { choice: 1, usesHints: true },
  { choice: 2, usesHints: true },
]

// A deeply nested schema exceeds the call stack (RangeError).
const UNREADABLE = [BudgetExceededError, CircularReferenceError, RangeError, SchemaError]

// A value that is nested deeper contains itself, or is too long to read.
const MAX_DEPTH = 8
const MAX_ITEMS = 20

/**
 * Objects have the required properties, or all properties if none is required. Null if the schema is invalid, or
 * exceeds the budget.
 */
export function exampleOf(schema: JsonSchema, budget: Budget): Example | null {
  try {
    const index = indexSchema(schema, budget)
    const compiled = compileSchema(schema, budget)
    let first: Example | null = null
    for (const attempt of ATTEMPTS) {
      const value = make(schema, { index, budget, ...attempt }, 0)
      const { issues, abortedBy } = validateValue(compiled, value, budget)
      if (issues.length === 0 && abortedBy === null) return { value, isValid: true }
      first ??= { value, isValid: false }
    }
    return first
  } catch (error) {
    if (UNREADABLE.some((type) => error instanceof type)) return null
    throw error
  }
}

function make(schema: unknown, attempt: Attempt, depth: number): unknown {
  const keywords = flatSchema(schema, attempt.index, attempt.choice, attempt.budget)
  if ('const' in keywords) return keywords.const
  const hints = attempt.usesHints ? hintsIn(keywords) : []
  const values = Array.isArray(keywords.enum) ? keywords.enum : []
  const type = typeOf(keywords)
  if (values.length > 0) return firstValid([...hints, ...values], keywords, attempt)
  if (type === 'string') return firstValid([...hints, ...stringExamples(keywords, attempt.budget)], keywords, attempt)
  if (type === 'number' || type === 'integer')
    return firstValid([...hints, ...numberExamples(keywords, type === 'integer')], keywords, attempt)
  if (hints.length > 0) return hints[0]
  if (type === 'object') return objectOf(keywords, attempt, depth)
  if (type === 'array') return arrayOf(keywords, attempt, depth)
  return type === 'boolean' ? true : null
}

function hintsIn({ examples, default: byDefault }: FlatSchema): unknown[] {
  return [...arrayOrEmpty(examples), ...(byDefault === undefined ? [] : [byDefault])]
}

/** The type of the values. Without `type`, it is derived from the other keywords. */
function typeOf(keywords: FlatSchema): unknown {
  const { type } = keywords
  if (Array.isArray(type)) return type.find((name) => name !== 'null') ?? 'null'
  if (type !== undefined) return type
  const has = (...names: string[]) => names.some((name) => name in keywords)
  if (has('properties', 'required', 'additionalProperties', 'minProperties')) return 'object'
  if (has('items', 'prefixItems', 'minItems')) return 'array'
  if (has('minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf')) return 'number'
  return 'string'
}

// Keywords that describe strings and numbers without other parts of the schema.
const OF_SCALARS = new Set([
  ...['type', 'enum', 'pattern', 'minLength', 'maxLength', 'not'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
])

function firstValid(candidates: unknown[], keywords: FlatSchema, { budget }: Attempt): unknown {
  const own = Object.fromEntries(Object.entries(keywords).filter(([keyword]) => OF_SCALARS.has(keyword)))
  const compiled = compileSchema(own, budget)
  return candidates.find((value) => validateValue(compiled, value, budget).issues.length === 0) ?? candidates[0]
}

function objectOf(keywords: FlatSchema, attempt: Attempt, depth: number): unknown {
  const properties = isObject(keywords.properties) ? keywords.properties : {}
  const required = arrayOrEmpty(keywords.required).filter((name) => typeof name === 'string')
  // If none is required, all of them, but only in the two outer levels: nested objects could repeat forever.
  const shown = required.length > 0 || depth > 1 ? required : Object.keys(properties)
  const { additionalProperties = true, minProperties = 0 } = keywords
  const missing = Math.min(Number(minProperties), MAX_ITEMS) - shown.length
  const others = Object.keys(properties).filter((name) => !shown.includes(name))
  const more = Array.from({ length: Math.max(0, missing) }, (_, at) => others[at] ?? `key${at + 1}`)
  if (depth >= MAX_DEPTH) return {}
  return Object.fromEntries(
    [...shown, ...more].map((name) => {
      const schema = Object.hasOwn(properties, name) ? properties[name] : additionalProperties
      return [name, make(schema, attempt, depth + 1)]
    }),
  )
}

function arrayOf(keywords: FlatSchema, attempt: Attempt, depth: number): unknown {
  const { items, prefixItems, minItems = 0, maxItems = MAX_ITEMS, contains } = keywords
  if (depth >= MAX_DEPTH) return []
  // In draft-07 a tuple is in `items`.
  const first = arrayOrEmpty(prefixItems ?? items)
  const rest: unknown = Array.isArray(items) ? keywords.additionalItems : items
  const least = Math.max(Number(minItems), first.length, contains === undefined ? 0 : 1)
  const wanted = rest === false ? first.length : Math.max(1, least)
  const length = Math.min(wanted, Number(maxItems), MAX_ITEMS)
  return Array.from({ length }, (_, at) => {
    const schema = first[at] ?? rest ?? true
    const isContained = at === first.length && contains !== undefined
    return make(isContained ? { allOf: [contains, schema] } : schema, attempt, depth + 1)
  })
}
