import * as z from 'zod'
import type { JsonSchema } from '../protocol/catalog.ts'
import { zodInputSchema } from './zod-input-schema.ts'

/** A zod schema whose every input is a `Value`, or JSON Schema (2020-12 or draft-07) as it is. */
export type InputSchema<Value = unknown> = z.ZodType<unknown, Value> | JsonSchema

/** A zod schema whose every output is a `Value`, or JSON Schema (2020-12 or draft-07) as it is. */
export type OutputSchema<Value = unknown> = z.ZodType<Value> | JsonSchema

const DIALECT = /^https?:\/\/json-schema\.org\/(?:draft\/2020-12|draft-07)\/schema#?$/

/** The schema as JSON; null after telling `onFault` what is wrong with it. */
export function toJsonSchema(
  schema: InputSchema | OutputSchema,
  io: 'input' | 'output',
  onFault: (fault: string) => void,
): JsonSchema | null {
  try {
    if (isZod(schema)) return io === 'input' ? zodInputSchema(schema) : JSON.parse(JSON.stringify(z.toJSONSchema(schema, { io })))
    return plainJsonSchema(schema)
  } catch (error) {
    onFault(error instanceof Error ? error.message : String(error))
    return null
  }
}

function plainJsonSchema(schema: unknown): JsonSchema {
  if (typeof schema === 'boolean') return schema
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) throw new TypeError('is neither a zod schema nor JSON Schema')
  if ('_def' in schema) throw new TypeError('is a schema of zod 3: zod 4 is needed')
  const plain = JSON.parse(JSON.stringify(schema))
  if (plain.$schema !== undefined && !DIALECT.test(plain.$schema))
    throw new TypeError(`is ${plain.$schema}, which is neither JSON Schema 2020-12 nor draft-07`)
  return plain
}

function isZod(schema: unknown): schema is z.ZodType {
  return typeof schema === 'object' && schema !== null && '_zod' in schema
}
