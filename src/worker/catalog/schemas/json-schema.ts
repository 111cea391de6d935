import type * as z from 'zod'
import { createBudget } from '../../../shared/json-schema/check.ts'
import { compileSchema, validateValue } from '../../../shared/json-schema/compile.ts'
import { CircularReferenceError } from '../../../shared/json-schema/errors.ts'
import { errorMessage } from '../../../shared/lib/error-message.ts'
import { isObject } from '../../../shared/lib/json.ts'
import type { JsonSchema } from '../../../shared/wire/catalog.ts'
import { ARKTYPE_OPTIONS, relaxArktype } from './arktype-schema.ts'
import { rejectNoJson, takeUnchecked } from './marks.ts'
import { plainJson } from './plain-json.ts'
import { acceptsValue, valibotOptions } from './valibot-schema.ts'
import { zodSchema } from './zod-schema.ts'

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
 * JSON Schema: 2020-12, 2019-09, draft-07 or draft-06.
 *
 * TypeScript explains a mismatch by comparing with one member of the union: the one with the most keys in common, or
 * else the last by name. This must not be this one, or the error would not name the property that is wrong. Hence its
 * name and its key type, which accepts every string but is not `string`.
 */
interface PlainJsonSchema {
  readonly [keyword: string & { length: number }]: unknown
}

type Primitive = string | number | bigint | boolean | symbol | null | undefined

/** Whether the compiler option `exactOptionalPropertyTypes` is on. */
type IsExact = { one?: undefined } extends { one?: never } ? false : true

/**
 * The type with undefined as a value of its optional properties: libraries infer them so, and JSON has no undefined.
 * Unchanged without `exactOptionalPropertyTypes`, which allows that anyway.
 */
type Loose<Value> = IsExact extends true ? WithUndefined<Value> : Value

type WithUndefined<Value> = Value extends Primitive | ((...args: never[]) => unknown)
  ? Value
  : Value extends readonly unknown[]
    ? { [Index in keyof Value]: WithUndefined<Value[Index]> }
    : Value extends object
      ? {
          [Key in keyof Value]:
            | WithUndefined<Value[Key]>
            | (Record<never, never> extends Pick<Value, Key> ? undefined : never)
        }
      : Value

/** A schema that accepts only values of type `Value`. */
export type InputSchema<Value = unknown> =
  | boolean
  | PlainJsonSchema
  | SchemaOfZod<{ readonly input: Loose<Value> }>
  | StandardSchema<{ readonly input: Loose<Value> }>

/** A schema whose parsed output is of type `Value`. */
export type OutputSchema<Value = unknown> =
  | boolean
  | PlainJsonSchema
  | SchemaOfZod<{ readonly output: Loose<Value> }>
  | StandardSchema<{ readonly output: Loose<Value> }>

/** What is said once about a schema, when the worker starts: what the API does not check although the worker does. */
const unchecked = new WeakMap<object, string[]>()

/** Such as `refine at /card`, for a schema that `toJsonSchema` has returned. */
export function uncheckedIn(schema: JsonSchema | null): string[] {
  return (typeof schema === 'object' && schema !== null && unchecked.get(schema)) || []
}

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
  if (!isZod(schema) && '_def' in schema) throw new TypeError('is a zod 3 schema; use zod 4')
  const marked = isZod(schema) ? zodSchema(schema, io) : fromOther(schema, io)
  const found = takeUnchecked(marked)
  if (found.length > 0) unchecked.set(marked, found)
  return marked
}

function isZod(schema: object): schema is z.ZodType {
  return '_zod' in schema
}

/** Has marks. */
function fromOther(schema: object, io: 'input' | 'output'): Record<string, unknown> {
  const standard: unknown = Reflect.get(schema, '~standard')
  const { vendor } = isObject(standard) ? standard : {}
  // The result of `z.toJSONSchema` is JSON Schema already.
  if (!isObject(standard) || vendor === 'zod') return fromPlain(schema)
  const convert = converterOf(standard, io)
  if (io === 'input' && vendor === 'valibot' && acceptsValue(standard, Symbol('any value'))) return {}
  const json = plainJson(convert(optionsOf(vendor, io)))
  if (io === 'input' && vendor === 'arktype') relaxArktype(schema, json)
  return json
}

function optionsOf(vendor: unknown, io: 'input' | 'output'): object | null {
  if (vendor === 'valibot') return valibotOptions(io)
  return vendor === 'arktype' ? ARKTYPE_OPTIONS : null
}

const HINTS = new Map([['valibot', 'wrap it in toStandardJsonSchema from @valibot/to-json-schema']])
const DEFAULT_HINT = 'use a version of the library that supports Standard JSON Schema, or pass JSON Schema'

/** The library's own converter, with options of the library. */
function converterOf({ vendor, jsonSchema }: Record<string, unknown>, io: 'input' | 'output') {
  const converter = isObject(jsonSchema) ? jsonSchema[io] : undefined
  if (typeof converter !== 'function') {
    const hint = HINTS.get(String(vendor)) ?? DEFAULT_HINT
    throw new TypeError(`is a schema from ${vendor} without Standard JSON Schema support; ${hint}`)
  }
  return (libraryOptions: object | null): object => {
    try {
      const json = Reflect.apply(converter, jsonSchema, [{ ...TARGET, ...(libraryOptions && { libraryOptions }) }])
      rejectNoJson(json)
      return json
    } catch (cause) {
      throw new TypeError(`${vendor} cannot convert the schema to JSON Schema: ${errorMessage(cause)}`, { cause })
    }
  }
}

function fromPlain(schema: object): Record<string, unknown> {
  if (!isObject(schema) || !isPlain(schema)) throw notASchema()
  return plainJson(schema, (value) => {
    if (typeof value === 'function') throw notASchema()
  })
}

/** False for instances of classes, as the schemas of many libraries are. */
function isPlain(schema: object): boolean {
  const prototype = Object.getPrototypeOf(schema)
  return prototype === null || Object.getPrototypeOf(prototype) === null
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
    validateValue(compiled, null, unlimited)
  } catch (error) {
    if (!(error instanceof CircularReferenceError)) throw error
    return [...compiled.invalid, error.message]
  }
  return compiled.invalid
}
