/** What kind of field a JSON Schema needs. What a form cannot express is edited as JSON. */
import { isObject } from '../../../../../shared/lib/json.ts'
import type { Schema } from '../catalog.ts'

interface Base {
  title: string | null
  description: string | null
  /** What the value must be like, in words. */
  hint: string
  initial: unknown
  isNullable: boolean
}

export type Field = Base &
  (
    | { kind: 'string'; input: 'text' | 'date' | 'datetime-local' | 'time'; isLong: boolean }
    | { kind: 'number' }
    | { kind: 'boolean' }
    | { kind: 'choice'; values: unknown[] }
    | { kind: 'object'; properties: Property[] }
    | { kind: 'array'; items: Field }
    | { kind: 'constant'; value: unknown }
    | { kind: 'json' }
  )

export interface Property {
  name: string
  field: Field
  isRequired: boolean
}

const MAX_DEPTH = 6
const LONG_TEXT = 200

export function toField(schema: Schema | null, root: Schema | null = schema, depth = 0): Field {
  const { schema: own, isNullable } = withoutNull(resolved(schema, root), root)
  const base: Base = {
    title: textOf(own.title),
    description: textOf(own.description),
    hint: '',
    initial: own.default,
    isNullable,
  }
  if (depth > MAX_DEPTH) return { ...base, kind: 'json' }
  if ('const' in own) return { ...base, kind: 'constant', value: own.const }
  const values = choicesOf(own, root)
  if (values !== null) return { ...base, kind: 'choice', values }
  if (['anyOf', 'oneOf', 'allOf', 'not', 'if', 'patternProperties'].some((name) => name in own))
    return { ...base, kind: 'json' }
  switch (own.type) {
    case 'string':
      return { ...base, kind: 'string', hint: stringHint(own), input: inputOf(own.format), isLong: isLong(own) }
    case 'number':
    case 'integer':
      return { ...base, kind: 'number', hint: numberHint(own) }
    case 'boolean':
      return { ...base, kind: 'boolean' }
    case 'object':
      return isObject(own.properties) && Object.keys(own.properties).length > 0
        ? { ...base, kind: 'object', properties: propertiesOf(own, root, depth) }
        : { ...base, kind: 'json', hint: 'An object' }
    case 'array':
      return isObject(own.items) || own.items === true
        ? {
            ...base,
            kind: 'array',
            hint: lengthHint(own.minItems, own.maxItems, 'item'),
            items: toField(own.items as Schema, root, depth + 1),
          }
        : { ...base, kind: 'json', hint: 'A list' }
    default:
      return { ...base, kind: 'json' }
  }
}

function propertiesOf(schema: Record<string, unknown>, root: Schema | null, depth: number): Property[] {
  const required = Array.isArray(schema.required) ? schema.required : []
  return Object.entries(schema.properties as Record<string, Schema>).map(([name, property]) => ({
    name,
    field: toField(property, root, depth + 1),
    isRequired: required.includes(name),
  }))
}

/** Follows references within the schema. */
function resolved(schema: Schema | null, root: Schema | null): Record<string, unknown> {
  let at: unknown = schema
  for (let hops = 0; hops < 10 && isObject(at) && typeof at.$ref === 'string'; hops++) {
    const { $ref, ...own } = at
    const target = lookUp(String($ref), root)
    if (!isObject(target)) return {}
    at = { ...target, ...own }
  }
  return isObject(at) ? at : {}
}

function lookUp(ref: string, root: Schema | null): unknown {
  if (!ref.startsWith('#')) return null
  return ref
    .slice(1)
    .split('/')
    .slice(1)
    .map((step) => decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((at, step) => (isObject(at) && Object.hasOwn(at, step) ? at[step] : null), root)
}

/** `X | null` is X with a way to say null. */
function withoutNull(
  schema: Record<string, unknown>,
  root: Schema | null,
): { schema: Record<string, unknown>; isNullable: boolean } {
  if (Array.isArray(schema.type)) {
    const types = schema.type.filter((type) => type !== 'null')
    if (types.length === 1)
      return { schema: { ...schema, type: types[0] }, isNullable: types.length < schema.type.length }
  }
  const key = Array.isArray(schema.anyOf) ? 'anyOf' : Array.isArray(schema.oneOf) ? 'oneOf' : null
  if (key !== null) {
    const variants = (schema[key] as Schema[]).map((variant) => resolved(variant, root))
    const others = variants.filter(({ type }) => type !== 'null')
    if (others.length === 1 && others.length < variants.length) {
      const { [key]: _, ...outer } = schema
      return { schema: { ...others[0], ...outer }, isNullable: true }
    }
  }
  return { schema, isNullable: false }
}

function choicesOf(schema: Record<string, unknown>, root: Schema | null): unknown[] | null {
  if (Array.isArray(schema.enum)) return schema.enum
  const variants = schema.anyOf ?? schema.oneOf
  if (!Array.isArray(variants)) return null
  const values = variants.map((variant) => resolved(variant as Schema, root))
  return values.length > 0 && values.every((variant) => 'const' in variant)
    ? values.map((variant) => variant.const)
    : null
}

function inputOf(format: unknown): 'text' | 'date' | 'datetime-local' | 'time' {
  if (format === 'date' || format === 'time') return format
  return format === 'date-time' ? 'datetime-local' : 'text'
}

function isLong({ maxLength, format, contentMediaType }: Record<string, unknown>): boolean {
  return (
    (typeof maxLength === 'number' && maxLength > LONG_TEXT && format === undefined) || contentMediaType !== undefined
  )
}

const FORMATS = new Map([
  ['email', 'An email address'],
  ['uri', 'A URL'],
  ['uuid', 'A UUID'],
  ['date-time', 'A time in your time zone'],
  ['duration', 'An ISO 8601 duration, such as PT1H'],
  ['ipv4', 'An IPv4 address'],
  ['ipv6', 'An IPv6 address'],
])

function stringHint({ format, minLength, maxLength }: Record<string, unknown>): string {
  const known = FORMATS.get(String(format))
  const min = minLength === 1 ? undefined : minLength
  return [known, known === undefined ? lengthHint(min, maxLength, 'character') : ''].filter(Boolean).join(', ')
}

function numberHint({
  type,
  minimum,
  maximum,
  exclusiveMinimum,
  exclusiveMaximum,
  multipleOf,
}: Record<string, unknown>): string {
  const isBound = (value: unknown): value is number =>
    typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER
  const parts = [
    type === 'integer' ? 'A whole number' : '',
    isBound(minimum) && isBound(maximum)
      ? `${minimum} to ${maximum}`
      : isBound(minimum)
        ? `at least ${minimum}`
        : isBound(maximum)
          ? `at most ${maximum}`
          : '',
    isBound(exclusiveMinimum) ? `above ${exclusiveMinimum}` : '',
    isBound(exclusiveMaximum) ? `below ${exclusiveMaximum}` : '',
    isBound(multipleOf) ? `a multiple of ${multipleOf}` : '',
  ].filter(Boolean)
  const text = parts.join(', ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function lengthHint(min: unknown, max: unknown, one: string): string {
  if (typeof min === 'number' && typeof max === 'number') return `${min} to ${max} ${one}s`
  if (typeof min === 'number' && min > 0) return `At least ${min} ${min === 1 ? one : `${one}s`}`
  return typeof max === 'number' ? `At most ${max} ${one}s` : ''
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}
