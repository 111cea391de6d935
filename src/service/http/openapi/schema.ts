/** Shorthand for JSON Schema, and the names of the schemas of the document. */

export type Schema = Readonly<Record<string, unknown>>

export const string = { type: 'string' }
export const boolean = { type: 'boolean' }
export const integer = { type: 'integer' }
export const number = { type: 'number' }
/** JSON of any type. */
export const any = {}
export const time = { type: 'string', format: 'date-time' }

/** An object with exactly the keys of `T`. */
export function object<T>(
  properties: { [Key in keyof Required<T>]: Schema },
  { optional = [], description }: { optional?: readonly (keyof T)[]; description?: string } = {},
): Schema {
  const required = Object.keys(properties).filter((key) => !optional.some((name) => name === key))
  return {
    type: 'object',
    ...(description !== undefined && { description }),
    properties,
    ...(required.length > 0 && { required }),
  }
}

export function array(items: Schema): Schema {
  return { type: 'array', items }
}

export function enumOf(values: readonly string[]): Schema {
  return { type: 'string', enum: values }
}

export function orNull(schema: Schema): Schema {
  return typeof schema.type === 'string' && schema.enum === undefined
    ? { ...schema, type: [schema.type, 'null'] }
    : { anyOf: [schema, { type: 'null' }] }
}

export function ref(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` }
}

/** The same schema with a sentence about it. */
export function described(schema: Schema, description: string): Schema {
  return { ...schema, description }
}
