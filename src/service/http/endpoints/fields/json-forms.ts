import * as z from 'zod/mini'

/**
 * What zod cannot derive for the OpenAPI document: the descriptions of fields, and the JSON Schema of checks that are
 * code. These keywords are added to those of zod, or replace them; `undefined` removes a keyword, and `hidden` leaves
 * out a parameter. Requests do not use them.
 */
export const jsonForms = z.registry<Readonly<Record<string, unknown>>>()

/** A field that may be absent, with its description for the document. */
export function optional<T extends z.core.SomeType>(schema: T, description: string): z.ZodMiniExactOptional<T> {
  const field = z.exactOptional(schema)
  jsonForms.add(field, { description })
  return field
}

/** The same for a field that will be removed. An endpoint that receives it calls `announceDeprecation`. */
export function deprecated<T extends z.core.SomeType>(schema: T, description: string): z.ZodMiniExactOptional<T> {
  const field = z.exactOptional(schema)
  jsonForms.add(field, { description, deprecated: true })
  return field
}

/** A required field with its description. */
export function described<T extends z.ZodMiniType>(schema: T, description: string): T {
  jsonForms.add(schema, { ...jsonForms.get(schema), description })
  return schema
}
