/** All keywords that a schema applies to a value in one object, with those of `$ref`, `allOf` and alternatives. */
import { isObject } from '../../lib/json.ts'
import { type Budget, COST } from '../check.ts'
import { SchemaError } from '../errors.ts'
import type { SchemaIndex } from '../schema-index.ts'

export type FlatSchema = Record<string, unknown>

// A schema that is nested deeper refers to itself, or is too long to read.
const MAX_DEPTH = 20

const LARGEST = new Set(['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'])
const SMALLEST = new Set(['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'])

/** `choice`: which of several alternatives is taken; beyond the last one it is the last one. */
export function flatSchema(schema: unknown, index: SchemaIndex, choice: number, budget: Budget): FlatSchema {
  return flatten(schema, 0)

  function flatten(schema: unknown, depth: number): FlatSchema {
    if (!isObject(schema) || depth > MAX_DEPTH) return {}
    budget.spend(COST.exampleOfSubschema(Object.keys(schema).length))
    const { $ref, allOf, anyOf, oneOf, ...own } = schema
    const parts = [target($ref, schema), ...arrayOrEmpty(allOf), chosen(anyOf), chosen(oneOf)]
    return parts.map((part) => flatten(part, depth + 1)).reduce(merge, own)
  }

  function target(reference: unknown, from: object): unknown {
    if (typeof reference !== 'string') return undefined
    try {
      return index.resolve(reference, from)
    } catch (error) {
      if (error instanceof SchemaError) return undefined
      throw error
    }
  }

  /** Null is the last choice. */
  function chosen(alternatives: unknown): unknown {
    const all = arrayOrEmpty(alternatives).filter((alternative) => alternative !== false)
    const ordered = [...all.filter((one) => !isNull(one)), ...all.filter(isNull)]
    return ordered[Math.min(choice, ordered.length - 1)]
  }
}

function isNull(schema: unknown): boolean {
  return isObject(schema) && (schema.type === 'null' || schema.const === null)
}

function merge(one: FlatSchema, other: FlatSchema): FlatSchema {
  const shared = Object.entries(other).map(([keyword, value]) => [
    keyword,
    Object.hasOwn(one, keyword) ? both(keyword, one[keyword], value) : value,
  ])
  return { ...one, ...Object.fromEntries(shared) }
}

function both(keyword: string, one: unknown, other: unknown): unknown {
  if (keyword === 'required') return [...new Set([...arrayOrEmpty(one), ...arrayOrEmpty(other)])]
  if (keyword === 'properties' && isObject(one) && isObject(other)) return mergeProperties(one, other)
  if (typeof one === 'number' && typeof other === 'number') {
    if (LARGEST.has(keyword)) return Math.max(one, other)
    if (SMALLEST.has(keyword)) return Math.min(one, other)
  }
  return one
}

function mergeProperties(one: FlatSchema, other: FlatSchema): FlatSchema {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])]
  return Object.fromEntries(
    names.map((name) => {
      const schemas = [one, other].filter((from) => Object.hasOwn(from, name)).map((from) => from[name])
      return [name, schemas.length === 1 ? schemas[0] : { allOf: schemas }]
    }),
  )
}

export function arrayOrEmpty(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
