/** Compares JSON Schemas: those of requests must accept what they accepted, those of responses must promise no less. */
import { isDeepStrictEqual } from 'node:util'
import { compareByKey, type Difference, type Report } from './differences.ts'

/** The keywords that are compared. */
export interface Schema {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  required?: string[]
  properties?: Record<string, Schema>
  additionalProperties?: Schema | boolean
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  [keyword: string]: unknown
}

export type Direction = 'request' | 'response'

/** Reports the differences between a schema and its successor. `name` is where they are. */
export type CompareSchemas = (before: Schema, now: Schema, name: string, direction: Direction) => void

interface Components {
  before: Readonly<Record<string, Schema>>
  now: Readonly<Record<string, Schema>>
}

/**
 * `$ref`s are looked up in the components, each of which is compared once. `trustsNames`: two `$ref`s of the same name
 * count as equal, because somebody else compares them.
 */
export function schemaComparison(components: Components, report: Report, trustsNames = false): CompareSchemas {
  const compared = new Set<string>()

  const compare: CompareSchemas = (before, now, name, direction) => {
    const [one, other] = [referred(before), referred(now)]
    if (one === undefined && other === undefined) return compareKeywords(before, now, name, direction)
    // A component can be written out in several places.
    const pair = `${one} ${other} ${direction} ${one === undefined || other === undefined ? name : ''}`
    if (compared.has(pair) || (trustsNames && one === other)) return
    compared.add(pair)
    const resolved = [resolve(before, components.before), resolve(now, components.now)] as const
    return compare(...resolved, one !== undefined && one === other ? one : name, direction)
  }

  function compareKeywords(before: Schema, now: Schema, name: string, direction: Direction): void {
    for (const { field, how } of breaksIn(before, now, direction))
      report({ breaks: true, name: `${name}${field}`, how })
    const nameOf = (key: string) => `${name}/${key}`
    const both = (one: Schema, other: Schema, place: string) => compare(one, other, place, direction)
    compareByKey(before.properties, now.properties, { nameOf, both }, report)
    for (const keyword of NESTED) {
      const [one, other] = [before[keyword], now[keyword]]
      if (typeof one === 'object' && typeof other === 'object') both(one, other, `${name}/*`)
    }
    if ((variantsOf(before) ?? variantsOf(now)) !== null) compareVariants(before, now, name, direction)
  }

  /** Each variant that clients send must still be accepted, and each that they receive must be known to them. */
  function compareVariants(before: Schema, now: Schema, name: string, direction: Direction): void {
    const [olds, news] = [variantsOf(before) ?? [before], variantsOf(now) ?? [now]]
    const pairs = olds.flatMap((one) =>
      news.filter((other) => fits(one, other, direction)).map((other) => ({ one, other })),
    )
    const removed = olds.filter((one) => !pairs.some((pair) => pair.one === one))
    const added = news.filter((other) => !pairs.some((pair) => pair.other === other))
    // One that has changed, probably.
    const [changed] = removed.length === 1 ? removed : []
    const [successor] = added.length === 1 ? added : []
    if (changed && successor) pairs.push({ one: changed, other: successor })
    else reportVariants(removed, added, name, direction)
    for (const { one, other } of pairs) compare(one, other, name, direction)
  }

  function reportVariants(removed: Schema[], added: Schema[], name: string, direction: Direction): void {
    const breaks = (direction === 'request' ? removed : added).length > 0
    if (removed.length + added.length === 0) return
    report({ breaks, name, how: `the variants of the ${direction} are not what they were` })
  }

  function fits(one: Schema, other: Schema, direction: Direction): boolean {
    const differences: Difference[] = []
    schemaComparison(components, (difference) => differences.push(difference), true)(one, other, '', direction)
    return differences.every(({ breaks }) => !breaks)
  }

  return compare
}

function referred({ $ref }: Schema): string | undefined {
  return $ref?.split('/').at(-1)
}

function resolve(schema: Schema, components: Readonly<Record<string, Schema>>): Schema {
  const name = referred(schema)
  return name === undefined ? schema : (components[name] ?? {})
}

function variantsOf({ anyOf, oneOf }: Schema): Schema[] | null {
  return anyOf ?? oneOf ?? null
}

const ANY = 'of any type'

function typesOf({ type = ANY, ...schema }: Schema): string[] {
  if (type === ANY && variantsOf(schema) !== null) return []
  return Array.isArray(type) ? type : [type]
}

/** Types of variants are compared with the variants. */
function includesType(types: readonly string[], type: string): boolean {
  if (types.length === 0 || types.includes(ANY) || types.includes(type)) return true
  return type === 'integer' && types.includes('number')
}

const NESTED = ['items', 'additionalProperties'] as const

/** What breaks at this level of the schemas. */
function breaksIn(before: Schema, now: Schema, direction: Direction): { field: string; how: string }[] {
  const isRequest = direction === 'request'
  const [narrow, wide] = isRequest ? [before, now] : [now, before]
  const types = typesOf(narrow).filter((type) => !includesType(typesOf(wide), type))
  const fields = requiredIn(wide).filter((field) => !requiredIn(narrow).includes(field))
  const nested = NESTED.filter((keyword) => isStricter(narrow[keyword], wide[keyword], isRequest))
  return [
    ...types.map((type) => ({ field: '', how: isRequest ? `is no longer ${type}` : `can be ${type}` })),
    ...fields.map((field) => ({
      field: `/${field}`,
      how: isRequest ? 'is required' : 'is no longer in each response',
    })),
    // Values of responses may always be new ones.
    ...(isRequest ? narrowed(before, now) : []).map((keyword) => ({ field: '', how: `accepts less: ${keyword}` })),
    ...nested.map((keyword) => ({ field: '', how: `${keyword} are not what they were` })),
  ]
}

function requiredIn({ required = [] }: Schema): string[] {
  return required
}

const MINIMA = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties']
const MAXIMA = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties']

// Whether a change of one of these accepts less is not decided: any change is reported.
const OPAQUE = ['pattern', 'not', 'if', 'then', 'else', 'allOf', 'propertyNames', 'patternProperties', 'prefixItems']

/** The keywords with which a request accepts less than before. */
function narrowed(before: Schema, now: Schema): string[] {
  const bound = (schema: Schema, keyword: string, none: number) => Number(schema[keyword] ?? none)
  const [values, known] = [valuesOf(now), valuesOf(before)]
  return [
    ...MINIMA.filter((keyword) => bound(now, keyword, -Infinity) > bound(before, keyword, -Infinity)),
    ...MAXIMA.filter((keyword) => bound(now, keyword, Infinity) < bound(before, keyword, Infinity)),
    ...OPAQUE.filter((keyword) => now[keyword] !== undefined && !isDeepStrictEqual(now[keyword], before[keyword])),
    ...(values !== null && !known?.every((value) => values.includes(value)) ? ['enum'] : []),
  ]
}

function valuesOf(schema: Schema): unknown[] | null {
  return 'const' in schema ? [schema.const] : (schema.enum ?? null)
}

/** Whether `wide` excludes what `narrow` allows. Two schemas are compared elsewhere. */
function isStricter(narrow: Schema | boolean | undefined, wide: Schema | boolean | undefined, isRequest: boolean) {
  if (narrow === false || (typeof narrow === 'object' && typeof wide === 'object')) return false
  // A response may have fields that are not described.
  return typeof wide === 'object' || (wide === false && isRequest)
}
