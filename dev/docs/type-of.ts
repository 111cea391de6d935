import type { OpenApiDocument } from '../../src/service/http/openapi/open-api-document.ts'
import type { Schema } from '../../src/service/http/openapi/schema.ts'

/** The type of a schema in a few words, such as `integer, 1 to 1000`. */
export function typeOf(document: OpenApiDocument, schema: Schema): string {
  if (typeof schema.$ref === 'string') {
    const name = schema.$ref.split('/').at(-1) ?? ''
    return typeOf(document, document.components.schemas[name] ?? {})
  }
  if (isDuration(schema)) return duration(schema)
  if (Array.isArray(schema.anyOf)) return unique(schema.anyOf.map((one) => typeOf(document, one)))
  if (Array.isArray(schema.enum)) return schema.enum.map((one) => `\`${one}\``).join(', ')
  if (schema.const !== undefined) return `\`${schema.const}\``
  if (schema.type === undefined) return 'any JSON'
  return unique([schema.type].flat().map((type) => simpleType(document, String(type), schema)))
}

function simpleType(document: OpenApiDocument, type: string, schema: Schema): string {
  if (type === 'string' && schema.format === 'date-time') return 'time'
  if (type === 'string' && typeof schema.maxLength === 'number') return `string, at most ${schema.maxLength}`
  if (type === 'integer' && typeof schema.maximum === 'number' && schema.maximum < 10_000)
    return `integer, ${schema.minimum} to ${schema.maximum}`
  if (type === 'array') {
    const items = typeOf(document, Object(schema.items))
    return items === 'any JSON' || items.includes('`') ? 'array' : `${items}[]`
  }
  return type
}

/** Milliseconds, or a number with a unit. */
function isDuration({ pattern, anyOf }: Schema): boolean {
  const patterns = [pattern, ...(Array.isArray(anyOf) ? anyOf.map((one) => one.pattern) : [])]
  return patterns.some((one) => typeof one === 'string' && one.includes('(?:ms|s|m|h|d)'))
}

/** With its maximum, in the largest unit that fits. */
function duration({ anyOf }: Schema): string {
  const maximum = Array.isArray(anyOf) ? Number(anyOf.find((one) => one.type === 'number')?.maximum) : Number.NaN
  const [unit, ms] = UNITS.find(([, one]) => maximum % one === 0) ?? []
  return ms === undefined || maximum > MAX_SHOWN_MS ? 'duration' : `duration, at most ${maximum / ms} ${unit}`
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['s', 1000],
] as const

/** Higher limits are those of the engine's integers. */
const MAX_SHOWN_MS = 90 * 86_400_000

function unique(types: string[]): string {
  return [...new Set(types)].join(' or ')
}
