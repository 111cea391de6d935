/** Rewrites a schema with keywords that generators of clients support. */
import type { ShownSchema } from './schema-keywords.ts'

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
export function readableSchema(schema: ShownSchema): ShownSchema {
  return withoutCompoundConst(withSingleTypes(schema))
}

function withSingleTypes(schema: ShownSchema): ShownSchema {
  const { type, ...others } = schema
  if (!Array.isArray(type) || type.filter((name) => name !== 'null').length < 2) return schema
  const ofTypes = new Set(type.flatMap((name) => OF_TYPE[name] ?? []))
  const anyOf = type.map((name) => ({ type: name, ...pick(others, (key) => OF_TYPE[name]?.includes(key) ?? false) }))
  const shared = pick(others, (key) => !ofTypes.has(key))
  if (shared.anyOf === undefined) return { ...shared, anyOf }
  return { ...shared, allOf: [...(Array.isArray(shared.allOf) ? shared.allOf : []), { anyOf }] }
}

function withoutCompoundConst(schema: ShownSchema): ShownSchema {
  const { const: value, ...others } = schema
  return typeof value === 'object' && value !== null && others.enum === undefined
    ? { ...others, enum: [value] }
    : schema
}

/** Schemas that accept more may match together. */
export function withoutOneOf(schema: ShownSchema): ShownSchema {
  const { oneOf, ...others } = schema
  if (oneOf === undefined) return schema
  if (others.anyOf === undefined) return { ...others, anyOf: oneOf }
  return { ...others, allOf: [...(Array.isArray(others.allOf) ? others.allOf : []), { anyOf: oneOf }] }
}

function pick(schema: ShownSchema, isPicked: (keyword: string) => boolean): ShownSchema {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => isPicked(keyword)))
}
