import * as z from 'zod'
import { createBudget } from '../../../json-schema/check.ts'
import { compileSchema, validate } from '../../../json-schema/compile.ts'
import { CircularReferenceError } from '../../../json-schema/errors.ts'
import { errorMessage } from '../../../lib/error-message.ts'
import { isObject } from '../../../lib/json.ts'
import type { JsonSchema } from '../../../protocol/catalog.ts'
import { zodInputSchema } from './zod-input-schema.ts'

const TARGET = { target: 'draft-2020-12' } as const

type Convert = (options: typeof TARGET) => Record<string, unknown>

interface Typed<Types> {
  readonly types?: Types | undefined
}

/** A zod 4 schema, including zod/mini. */
interface SchemaOfZod<Types> {
  readonly _zod: object
  readonly '~standard': Typed<Types>
}

/** A schema from a library that supports Standard JSON Schema: https://standardschema.dev/json-schema. */
interface StandardSchema<Types> {
  readonly '~standard': Typed<Types> & { readonly jsonSchema: { readonly input: Convert; readonly output: Convert } }
}

/**
 * JSON Schema, 2020-12 or draft-07.
 *
 * TypeScript explains a mismatch by comparing with one member of the union: the one with the most keys in common, or
 * else the last by name. This must not be this one, or the error would not name the property that is wrong. Hence its
 * name and its key type, which accepts every string but is not `string`.
 */
interface PlainJsonSchema {
  readonly [keyword: string & { length: number }]: unknown
}

/** A schema that accepts only values of type `Value`. */
export type InputSchema<Value = unknown> =
  | boolean
  | PlainJsonSchema
  | SchemaOfZod<{ readonly input: Value }>
  | StandardSchema<{ readonly input: Value }>

/** A schema whose parsed output is of type `Value`. */
export type OutputSchema<Value = unknown> =
  | boolean
  | PlainJsonSchema
  | SchemaOfZod<{ readonly output: Value }>
  | StandardSchema<{ readonly output: Value }>

/** Converts the schema to JSON Schema. Returns null if it is invalid, after calling `onError` for each error. */
export function toJsonSchema(
  schema: unknown,
  io: 'input' | 'output',
  onError: (message: string) => void,
): JsonSchema | null {
  try {
    const json = convert(schema, io)
    const errors = errorsIn(json)
    for (const error of errors) onError(error)
    return errors.length === 0 ? json : null
  } catch (error) {
    onError(errorMessage(error))
    return null
  }
}

function convert(schema: unknown, io: 'input' | 'output'): JsonSchema {
  if (typeof schema === 'boolean') return schema
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null) throw notASchema()
  if (isZod(schema)) return io === 'input' ? zodInputSchema(schema) : toJson(z.toJSONSchema(schema, { io }))
  if ('_def' in schema) throw new TypeError('is a zod 3 schema; use zod 4')
  return toJson('~standard' in schema ? fromStandard(schema['~standard'], schema, io) : schema)
}

function isZod(schema: object): schema is z.ZodType {
  return '_zod' in schema
}

const HINTS = new Map([['valibot', 'wrap it in toStandardJsonSchema from @valibot/to-json-schema']])
const DEFAULT_HINT = 'use a version of the library that supports Standard JSON Schema, or pass JSON Schema'

function fromStandard(standard: unknown, schema: object, io: 'input' | 'output'): unknown {
  const { vendor, jsonSchema } = isObject(standard) ? standard : {}
  // The result of `z.toJSONSchema` is JSON Schema already.
  if (vendor === 'zod') return schema
  const converter = isObject(jsonSchema) ? jsonSchema[io] : undefined
  if (typeof converter !== 'function') {
    const hint = HINTS.get(String(vendor)) ?? DEFAULT_HINT
    throw new TypeError(`is a schema from ${vendor} without Standard JSON Schema support; ${hint}`)
  }
  try {
    return converter.call(jsonSchema, TARGET)
  } catch (cause) {
    throw new TypeError(`${vendor} cannot convert the schema to JSON Schema: ${errorMessage(cause)}`, { cause })
  }
}

function toJson(schema: unknown): JsonSchema {
  if (!isObject(schema) || !isPlain(schema)) throw notASchema()
  try {
    return JSON.parse(JSON.stringify(schema, rejectFunctions))
  } catch (cause) {
    // V8's own message for a circular structure has several lines.
    if (/circular|cyclic/i.test(errorMessage(cause)))
      throw new TypeError('has a circular structure; use $ref for recursive schemas', { cause })
    throw cause
  }
}

/** False for instances of classes, as the schemas of many libraries are. */
function isPlain(schema: object): boolean {
  const prototype = Object.getPrototypeOf(schema)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

function rejectFunctions(_key: string, value: unknown): unknown {
  if (typeof value === 'function') throw notASchema()
  return value
}

function notASchema(): TypeError {
  return new TypeError('must be a zod 4 schema, a schema that supports Standard JSON Schema, or JSON Schema')
}

/** The invalid parts of the schema, without keywords that the API does not support: the worker validates those. */
function errorsIn(schema: JsonSchema): string[] {
  const unlimited = createBudget(Number.POSITIVE_INFINITY)
  const compiled = compileSchema(schema, unlimited)
  try {
    // Any value shows whether a schema applies itself to the same value.
    validate(compiled, null, unlimited)
  } catch (error) {
    if (!(error instanceof CircularReferenceError)) throw error
    return [...compiled.invalid, error.message]
  }
  return compiled.invalid
}
