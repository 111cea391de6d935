/** Rewrites a schema with keywords that generators of clients support. */
import type { Schema } from './schema-keywords.ts'

// Keywords that constrain only values of one type.
const OF_NUMBERS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']
const OF_TYPE: Readonly<Record<string, readonly string[]>> = {
  string: ['minLength', 'maxLength', 'pattern', 'format', 'contentEncoding', 'contentMediaType'],
  number: OF_NUMBERS,
  integer: OF_NUMBERS,
  array: [
    ...['items', 'prefixItems', 'unevaluatedItems', 'minItems', 'maxItems', 'uniqueItems'],
    ...['contains', 'minContains', 'maxContains'],
  ],
  object: [
    ...['properties', 'required', 'additionalProperties', 'unevaluatedProperties', 'patternProperties'],
    ...['propertyNames', 'minProperties', 'maxProperties', 'dependentRequired', 'dependentSchemas'],
  ],
}

/**
 * Several types become `anyOf`, and an object that is a constant becomes an `enum`: oapi-codegen and
 * openapi-python-client fail on the originals.
 */
export function readableSchema(schema: Schema): Schema {
  return withoutCompoundConst(withSingleTypes(schema))
}

function withSingleTypes(schema: Schema): Schema {
  const { type, ...others } = schema
  if (!Array.isArray(type) || type.filter((name) => name !== 'null').length < 2) return schema
  const ofTypes = new Set(type.flatMap((name) => OF_TYPE[name] ?? []))
  const anyOf = type.map((name) => ({ type: name, ...pick(others, (key) => OF_TYPE[name]?.includes(key) ?? false) }))
  const shared = pick(others, (key) => !ofTypes.has(key))
  if (shared.anyOf === undefined) return { ...shared, anyOf }
  return { ...shared, allOf: [...(Array.isArray(shared.allOf) ? shared.allOf : []), { anyOf }] }
}

function withoutCompoundConst(schema: Schema): Schema {
  const { const: value, ...others } = schema
  return typeof value === 'object' && value !== null && others.enum === undefined
    ? { ...others, enum: [value] }
    : schema
}

function pick(schema: Schema, isPicked: (keyword: string) => boolean): Schema {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => isPicked(keyword)))
}
