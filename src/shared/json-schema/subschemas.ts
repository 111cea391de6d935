import { escapePointer, isObject } from '../lib/json.ts'

/** Keywords whose value is a subschema or an array of subschemas. */
const DIRECT = new Set([
  ...['additionalItems', 'additionalProperties', 'allOf', 'anyOf', 'contains', 'else', 'if', 'items', 'not', 'oneOf'],
  ...['prefixItems', 'propertyNames', 'then', 'unevaluatedItems', 'unevaluatedProperties'],
])

/** Keywords whose value is an object with a subschema for each key. */
const BY_KEY = new Set(['$defs', 'definitions', 'dependencies', 'dependentSchemas', 'patternProperties', 'properties'])

/** Keywords that apply their subschemas to the same value as the schema that contains them. */
const IN_PLACE = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas']

const REFERENCES = new Set(['$ref', '$dynamicRef', '$recursiveRef'])

/** Whether the keyword applies other schemas to the value, and so may evaluate properties and items. */
export function appliesSubschemas(keyword: string): boolean {
  return DIRECT.has(keyword) || BY_KEY.has(keyword) || REFERENCES.has(keyword)
}

/** Whether the keyword applies other schemas to the same value as the schema that contains it. */
export function isInPlace(keyword: string): boolean {
  return IN_PLACE.includes(keyword) || keyword === '$ref'
}

/** The subschemas in a keyword's value, each with the rest of its JSON Pointer. */
export function subschemasOf(keyword: string, value: unknown): [pointer: string, subschema: unknown][] {
  if (DIRECT.has(keyword)) {
    return Array.isArray(value) ? value.map((subschema, index) => [`/${index}`, subschema]) : [['', value]]
  }
  if (!BY_KEY.has(keyword) || !isObject(value)) return []
  return Object.entries(value).map(([key, subschema]) => [`/${escapePointer(key)}`, subschema])
}

/** The subschemas that apply to the same value as the schema, without those that it refers to. */
export function subschemasInPlace(schema: object): object[] {
  const inPlace = IN_PLACE.flatMap((keyword) => subschemasOf(keyword, Reflect.get(schema, keyword)))
  return inPlace.map(([, subschema]) => subschema).filter(isObject)
}
