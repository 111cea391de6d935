import * as z from 'zod'
import { createBudget } from '../../json-schema/budget.ts'
import { compileSchema } from '../../json-schema/compile.ts'
import { CircularReferenceError } from '../../json-schema/errors.ts'
import { validate } from '../../json-schema/validate.ts'
import { isObject } from '../../lib/is-object.ts'
import type { JsonSchema } from '../../protocol/catalog.ts'
import { zodInputSchema } from './zod-input-schema.ts'

const TARGET = { target: 'draft-2020-12' } as const

type Convert = (options: typeof TARGET) => Record<string, unknown>

interface Typed<Types> {
  readonly types?: Types | undefined
}

/** A schema of zod 4, zod/mini included. */
interface SchemaOfZod<Types> {
  readonly _zod: object
  readonly '~standard': Typed<Types>
}

/** A schema of any library that has Standard JSON Schema: https://standardschema.dev/json-schema. */
interface StandardSchema<Types> {
  readonly '~standard': Typed<Types> & { readonly jsonSchema: { readonly input: Convert; readonly output: Convert } }
}

/**
 * JSON Schema, 2020-12 or draft-07.
 *
 * Its keys are any strings. TypeScript explains a mismatch with the part of a union that has the most keys in common, or the
 * last of several; with plain `string` that would be this part, and the error would not say what of a schema does not fit.
 */
interface Plain {
  readonly [keyword: string & { length: number }]: unknown
}

/** A schema whose every input is a `Value`. */
export type InputSchema<Value = unknown> =
  | boolean
  | Plain
  | SchemaOfZod<{ readonly input: Value }>
  | StandardSchema<{ readonly input: Value }>

/** A schema whose every output is a `Value`. */
export type OutputSchema<Value = unknown> =
  | boolean
  | Plain
  | SchemaOfZod<{ readonly output: Value }>
  | StandardSchema<{ readonly output: Value }>

/** The schema as JSON; null after passing to `onFault` each thing that is wrong with it. */
export function toJsonSchema(
  schema: unknown,
  io: 'input' | 'output',
  onFault: (fault: string) => void,
): JsonSchema | null {
  try {
    const json = convert(schema, io)
    const faults = faultsOf(json)
    for (const fault of faults) onFault(fault)
    return faults.length === 0 ? json : null
  } catch (error) {
    onFault(messageOf(error))
    return null
  }
}

function convert(schema: unknown, io: 'input' | 'output'): JsonSchema {
  if (typeof schema === 'boolean') return schema
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null) throw notASchema()
  if (isZod(schema)) return io === 'input' ? zodInputSchema(schema) : toJson(z.toJSONSchema(schema, { io }))
  if ('_def' in schema) throw new TypeError('is a schema of zod 3: zod 4 is needed')
  return toJson('~standard' in schema ? fromStandard(schema['~standard'], schema, io) : schema)
}

function isZod(schema: object): schema is z.ZodType {
  return '_zod' in schema
}

const HINTS = new Map([['valibot', 'wrap it in toStandardJsonSchema of @valibot/to-json-schema']])

function fromStandard(standard: unknown, schema: object, io: 'input' | 'output'): unknown {
  const { vendor, jsonSchema } = isObject(standard) ? standard : {}
  // What `z.toJSONSchema` returns: it has been converted.
  if (vendor === 'zod') return schema
  const converter = isObject(jsonSchema) ? jsonSchema[io] : undefined
  if (typeof converter !== 'function') {
    const hint =
      HINTS.get(String(vendor)) ?? 'a version that has Standard JSON Schema is needed, or JSON Schema in its place'
    throw new TypeError(`is a schema of ${vendor}, which does not convert itself to JSON Schema: ${hint}`)
  }
  try {
    return converter.call(jsonSchema, TARGET)
  } catch (cause) {
    throw new TypeError(`${vendor} does not convert it to JSON Schema: ${messageOf(cause)}`, { cause })
  }
}

function toJson(schema: unknown): JsonSchema {
  if (!isObject(schema) || !isPlain(schema)) throw notASchema()
  try {
    return JSON.parse(JSON.stringify(schema, refuseFunctions))
  } catch (cause) {
    // The engine's own message draws the circle, on several lines.
    if (/circular|cyclic/i.test(messageOf(cause)))
      throw new TypeError('contains itself: refer to a part of it with $ref', { cause })
    throw cause
  }
}

/** Schemas of many libraries are instances of their classes. */
function isPlain(schema: object): boolean {
  const prototype = Object.getPrototypeOf(schema)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

function refuseFunctions(_key: string, value: unknown): unknown {
  if (typeof value === 'function') throw notASchema()
  return value
}

function notASchema(): TypeError {
  return new TypeError('must be a zod 4 schema, a schema with Standard JSON Schema, or JSON Schema')
}

/** The invalid parts of the schema. Keywords that the API does not support are not among them: the worker validates them. */
function faultsOf(schema: JsonSchema): string[] {
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

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
