import * as z from 'zod'
import type { JsonSchema } from '../protocol/catalog.ts'

/** A zod schema whose every input is a `Value`, or JSON Schema 2020-12 as it is. */
export type InputSchema<Value = unknown> = z.ZodType<unknown, Value> | JsonSchema

/** A zod schema whose every output is a `Value`, or JSON Schema 2020-12 as it is. */
export type OutputSchema<Value = unknown> = z.ZodType<Value> | JsonSchema

const DIALECT = 'https://json-schema.org/draft/2020-12/schema'

/** The schema as JSON; null after telling `onFault` what is wrong with it. */
export function toJsonSchema(
  schema: InputSchema | OutputSchema,
  io: 'input' | 'output',
  onFault: (fault: string) => void,
): JsonSchema | null {
  try {
    if (isZod(schema)) return JSON.parse(JSON.stringify(z.toJSONSchema(schema, { io })))
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
  if (plain.$schema !== undefined && plain.$schema.replace(/#$/, '') !== DIALECT) throw new TypeError(`is ${plain.$schema}, not ${DIALECT}`)
  return plain
}

function isZod(schema: unknown): schema is z.ZodType {
  return typeof schema === 'object' && schema !== null && '_zod' in schema
}
