import * as z from 'zod/mini'

/**
 * What the OpenAPI document says about schemas besides what zod derives itself: the descriptions of fields, and what
 * JSON Schema can say about schemas that check with code. Keywords are added to those of zod, or replace them.
 * `undefined` removes one, and `hidden` leaves out a parameter. No request reads them.
 */
export const jsonForms = z.registry<Readonly<Record<string, unknown>>>()

/** A field that may be absent, with what the document says about it. */
export function optional<T extends z.core.SomeType>(schema: T, description: string): z.ZodMiniExactOptional<T> {
  const field = z.exactOptional(schema)
  jsonForms.add(field, { description })
  return field
}
