/**
 * Schemas that clients validate as the service does. Their validators read draft-07, round numbers, count characters
 * and compile patterns in different ways. Whatever could make one of them reject a value that the service accepts is
 * left out.
 */
import { withoutOneOf } from '../../../../shared/json-schema/published/readable-schema.ts'
import { ANNOTATIONS, type ShownSchema } from '../../../../shared/json-schema/published/schema-keywords.ts'
import { isObject } from '../../../../shared/lib/json.ts'
import { isPortableKeyPattern, isPortablePattern } from './portable-pattern.ts'

export type Direction = 'input' | 'output'

/** The schema accepts the same values as the given one, or more. Keywords of the given one must have valid values. */
export function toHostSchema(schema: ShownSchema, direction: Direction): ShownSchema {
  const plain = withFormatAsText(withoutTuple(withoutOneOf(schema)))
  const shown = Object.entries(plain).flatMap(([keyword, value]) => {
    if (!isKept(keyword, plain, direction)) return []
    return [toHostKeyword(keyword, value, direction)]
  })
  return withItems(Object.fromEntries(shown))
}

// Not a list of types, which Gemini rejects.
const ANY_TYPE: readonly ShownSchema[] = [
  { type: 'object' },
  { type: 'array', items: {} },
  ...['string', 'number', 'boolean', 'null'].map((type) => ({ type })),
]

/** Names all types of JSON if the schema names none: hosts send the value of such a parameter as JSON in a string. */
export function typedParameter(schema: ShownSchema): ShownSchema {
  return Object.keys(schema).every((keyword) => ANNOTATIONS.has(keyword)) ? { ...schema, anyOf: ANY_TYPE } : schema
}

type IsKept = (schema: ShownSchema, direction: Direction) => boolean

const inInputs: IsKept = (_schema, direction) => direction === 'input'
const never: IsKept = () => false
const hasExactCondition: IsKept = (schema) => isExact(schema.if)
const hasPatterns: IsKept = ({ patternProperties }, direction) =>
  direction === 'input' && Object.keys(isObject(patternProperties) ? patternProperties : {}).every(isPortableKeyPattern)
const isCounted: IsKept = ({ minContains }) => minContains !== 0

const hasAllProperties: IsKept = (schema, direction) =>
  !Object.keys(schema.properties ?? {}).some(isInherited) &&
  (!('patternProperties' in schema) || hasPatterns(schema, direction))

/** Keywords that are not always kept. */
const KEPT: ReadonlyMap<string, IsKept> = new Map<string, IsKept>([
  // Each validator has formats of its own.
  ['format', never],
  ['uniqueItems', inInputs],
  // Of binary numbers, 0.57 is no multiple of 0.01.
  ['multipleOf', ({ multipleOf }, direction) => direction === 'input' && Number.isSafeInteger(multipleOf)],
  ['pattern', ({ pattern }, direction) => direction === 'input' && isPortablePattern(String(pattern))],
  ['patternProperties', hasPatterns],
  // It would apply to the properties that are left out.
  ['additionalProperties', hasAllProperties],
  // A schema that accepts more makes these accept less.
  ['not', (schema) => isExact(schema.not)],
  ['if', hasExactCondition],
  ['then', hasExactCondition],
  ['else', hasExactCondition],
  ['unevaluatedProperties', never],
  ['unevaluatedItems', never],
  ['maxContains', never],
  // In draft-07, at least one item must match.
  ['contains', isCounted],
  ['minContains', isCounted],
  ['const', ({ const: value }) => isPortableValue(value)],
  ['enum', ({ enum: values }) => isPortableValue(values)],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'].map((keyword): [string, IsKept] => [
    keyword,
    (schema) => isPortableValue(schema[keyword]),
  ]),
])

function isKept(keyword: string, schema: ShownSchema, direction: Direction): boolean {
  return KEPT.get(keyword)?.(schema, direction) ?? true
}

function toHostKeyword(keyword: string, value: unknown, direction: Direction): [string, unknown] {
  const show = (inner: unknown) => (isObject(inner) ? toHostSchema(inner, direction) : inner)
  switch (keyword) {
    case 'properties':
      return [keyword, mapValues(withoutInherited(value), (inner) => toProperty(inner, direction))]
    case 'patternProperties':
      return [keyword, mapValues(value, show)]
    case 'dependentSchemas':
      return [keyword, mapValues(withoutInherited(value), show)]
    case 'dependentRequired':
      return [keyword, withoutInherited(value)]
    case 'allOf':
    case 'anyOf':
      return [keyword, Array.isArray(value) ? value.map(show) : value]
    // Validators count code points or code units.
    case 'minLength':
      return [keyword, direction === 'output' ? Math.min(Number(value), 1) : value]
    // A number that is rounded may be the limit itself.
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
      return [direction === 'output' ? inclusive(keyword) : keyword, value]
    default:
      return [keyword, SUBSCHEMAS.has(keyword) ? show(value) : value]
  }
}

const SUBSCHEMAS: ReadonlySet<string> = new Set([
  ...['items', 'additionalProperties', 'contains', 'propertyNames', 'then', 'else'],
])

function inclusive(keyword: string): string {
  return keyword === 'exclusiveMinimum' ? 'minimum' : 'maximum'
}

function toProperty(schema: unknown, direction: Direction): unknown {
  const shown = toHostSchema(isObject(schema) ? schema : {}, direction)
  return direction === 'input' ? typedParameter(shown) : shown
}

/** Ajv and cfworker find such a property in every object. */
function isInherited(key: string): boolean {
  return key in Object.prototype
}

function withoutInherited(value: unknown): unknown {
  return Object.fromEntries(Object.entries(value ?? {}).filter(([key]) => !isInherited(key)))
}

function mapValues(value: unknown, map: (value: unknown) => unknown): unknown {
  return Object.fromEntries(Object.entries(value ?? {}).map(([key, item]) => [key, map(item)]))
}

/** For models. */
function withFormatAsText(schema: ShownSchema): ShownSchema {
  const { format, description } = schema
  if (typeof format !== 'string') return schema
  return { ...schema, description: `${typeof description === 'string' ? `${description} ` : ''}(format: ${format})` }
}

/** Draft-07 does not know `prefixItems`, and applies the `items` after them to all items. */
function withoutTuple(schema: ShownSchema): ShownSchema {
  const { prefixItems, items, ...others } = schema
  if (!Array.isArray(prefixItems)) return schema
  const isClosed = isNothing(items)
  const kinds = [...prefixItems, ...(isClosed ? [] : [items ?? {}])]
  const [first, ...rest] = new Map(kinds.map((kind) => [JSON.stringify(kind), kind])).values()
  const maxItems = Math.min(Number(others.maxItems ?? Number.POSITIVE_INFINITY), prefixItems.length)
  return {
    ...others,
    items: rest.length === 0 ? first : { anyOf: [first, ...rest] },
    ...(isClosed && { maxItems }),
  }
}

function isNothing(schema: unknown): boolean {
  return isObject(schema) && isObject(schema.not) && Object.keys(schema.not).length === 0
}

/** VS Code and OpenAI reject an array without items. */
function withItems(schema: ShownSchema): ShownSchema {
  const types: unknown[] = [schema.type].flat()
  return types.includes('array') && schema.items === undefined ? { ...schema, items: {} } : schema
}

// All validators agree on these.
const EXACT: ReadonlySet<string> = new Set([
  ...ANNOTATIONS,
  ...['type', 'const', 'enum', 'required', 'properties', 'minItems', 'maxItems', 'minProperties', 'maxProperties'],
])

function isExact(schema: unknown): boolean {
  if (!isObject(schema) || !Object.keys(schema).every((keyword) => EXACT.has(keyword))) return false
  const { properties, required } = schema
  const keys = [...Object.keys(isObject(properties) ? properties : {}), ...(Array.isArray(required) ? required : [])]
  return (
    !keys.some((key) => isInherited(String(key))) &&
    isPortableValue([schema.const, schema.enum]) &&
    Object.values(isObject(properties) ? properties : {}).every(isExact)
  )
}

/** Whether all programs read its numbers as the same ones. */
function isPortableValue(value: unknown): boolean {
  if (JSON.isRawJSON(value)) return false
  if (typeof value === 'number') return Math.abs(value) <= Number.MAX_SAFE_INTEGER
  return typeof value !== 'object' || value === null || Object.values(value).every(isPortableValue)
}
