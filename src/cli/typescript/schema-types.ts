/**
 * TypeScript types of JSON Schemas.
 *
 * A type never excludes a value that the schema allows, with one exception: a schema with keywords about objects
 * becomes an object type, although it allows other types too. Unsupported keywords become `unknown`. Only references
 * within the same schema are resolved.
 */
import { createBudget } from '../../shared/json-schema/check.ts'
import { requiredNames } from '../../shared/json-schema/required-names.ts'
import { indexSchema, refStandsAlone, type SchemaIndex } from '../../shared/json-schema/schema-index.ts'
import { isObject } from '../../shared/lib/json.ts'
import { block, comment, literal, propertyName } from './source-text.ts'

export interface SchemaTypes {
  /** The type of the schema's values. `name` begins the names of the declarations that it needs. */
  typeOf(schema: unknown, name: string, options?: TypeOptions): string
  /** `type` declarations of what schemas refer to. */
  declarations(): string[]
}

export interface TypeOptions {
  /** Whether fields with a default can be required. Default: true. */
  requiresDefaults?: boolean
}

// A type that is nested deeper, or has more parts, is not readable, and TypeScript has limits too.
const MAX_DEPTH = 40
const MAX_PARTS = 5000
const INDEX_STEPS = 10_000_000

export function createSchemaTypes(reserved: string[]): SchemaTypes {
  const names = new Set<string>(reserved)
  const declarations: string[] = []

  function uniqueName(wanted: string): string {
    const base = identifier(wanted)
    let name = base
    for (let count = 2; names.has(name); count++) name = `${base}${count}`
    names.add(name)
    return name
  }

  function typeOf(schema: unknown, name: string, { requiresDefaults = true }: TypeOptions = {}): string {
    const index = tryToIndex(schema)
    if (index === null) return 'unknown'
    return render(schema, {
      index,
      named: new Map(),
      budget: { parts: MAX_PARTS },
      name,
      depth: 0,
      open: [],
      canName: false,
      requiresDefaults,
    })
  }

  interface Place {
    requiresDefaults: boolean
    index: SchemaIndex
    /** Names of the declared subschemas. */
    named: Map<object, string>
    budget: { parts: number }
    name: string
    depth: number
    /** The subschemas around this one, up to the next property or element. */
    open: readonly object[]
    /** Whether a reference may be a name here. `type A = A` is an error, `type A = { a: A }` is not. */
    canName: boolean
  }

  function render(schema: unknown, outer: Place): string {
    if (schema === false) return 'never'
    if (!isObject(schema) || outer.depth > MAX_DEPTH || outer.open.includes(schema)) return 'unknown'
    outer.budget.parts--
    const { dialect } = outer.index.positionOf(schema)
    if (outer.budget.parts < 0 || dialect === null) return 'unknown'
    const place = { ...outer, depth: outer.depth + 1, open: [...outer.open, schema], canName: false }
    const reference = referenceType(schema, place, outer.canName)
    if (refStandsAlone(schema, dialect)) return reference
    return intersection([
      reference,
      ownType(schema, place),
      ...combined(schema.allOf, place),
      ...[schema.anyOf, schema.oneOf].map((schemas) => union(combined(schemas, place))),
    ])
  }

  function referenceType({ $ref }: Record<string, unknown>, place: Place, canName: boolean): string {
    if (typeof $ref !== 'string') return 'unknown'
    const target = tryToResolve($ref, place)
    return isObject(target) && canName ? declared(target, place) : render(target, place)
  }

  /** The name of the subschema's type, which may contain itself. */
  function declared(schema: object, place: Place): string {
    const known = place.named.get(schema)
    if (known !== undefined) return known
    const name = uniqueName(`${place.name}${titleOf(schema)}`)
    place.named.set(schema, name)
    const type = render(schema, { ...place, depth: 0, open: [], canName: false })
    declarations.push(`export type ${name} = ${type}`)
    return name
  }

  /** A subschema of a property or an element: its type may be that of a schema that contains it. */
  function inner(schema: unknown, place: Place): string {
    return render(schema, { ...place, open: [], canName: true })
  }

  function combined(schemas: unknown, place: Place): string[] {
    return Array.isArray(schemas) ? schemas.map((schema) => render(schema, place)) : []
  }

  function ownType(schema: Record<string, unknown>, place: Place): string {
    if ('const' in schema) return literal(schema.const)
    if (Array.isArray(schema.enum)) return union(schema.enum.map(literal))
    const types = typeof schema.type === 'string' ? [schema.type] : schema.type
    if (Array.isArray(types)) return union(types.map((type) => typeNamed(type, schema, place)))
    return describesObject(schema) ? objectType(schema, place) : 'unknown'
  }

  function typeNamed(type: unknown, schema: Record<string, unknown>, place: Place): string {
    switch (type) {
      case 'string':
      case 'number':
      case 'boolean':
      case 'null':
        return type
      case 'integer':
        return 'number'
      case 'array':
        return arrayType(schema, place)
      case 'object':
        return objectType(schema, place)
      default:
        return 'unknown'
    }
  }

  function objectType(schema: Record<string, unknown>, place: Place): string {
    const { properties, patternProperties, additionalProperties } = schema
    const described = isObject(properties) ? properties : {}
    const required = requiredNames(schema, place.requiresDefaults)
    const names = new Set([...Object.keys(described), ...required])
    const fields = [...names].map((name) => {
      const field = Object.hasOwn(described, name) ? described[name] : true
      return `${noteOf(field)}${propertyName(name)}${required.includes(name) ? '' : '?'}: ${inner(field, place)}`
    })
    const hasPatterns = isObject(patternProperties) && Object.keys(patternProperties).length > 0
    const isOpen = hasPatterns || (additionalProperties !== undefined && additionalProperties !== false)
    // An index signature must allow the types of all properties.
    if (fields.length > 0) return block(isOpen ? [...fields, '[key: string]: unknown'] : fields)
    return block([`[key: string]: ${hasPatterns ? 'unknown' : inner(additionalProperties ?? true, place)}`])
  }

  function arrayType({ items, prefixItems, minItems, additionalItems }: Record<string, unknown>, place: Place): string {
    // A tuple, in draft-07 in `items`.
    const isOldTuple = Array.isArray(items)
    const first: unknown[] = Array.isArray(prefixItems) ? prefixItems : isOldTuple ? items : []
    const rest = (isOldTuple ? additionalItems : items) ?? true
    const restType = inner(rest, place)
    if (first.length === 0) return `(${restType})[]`
    const minimum = typeof minItems === 'number' ? minItems : 0
    const elements = first.map((schema, at) => `(${inner(schema, place)})${at < minimum ? '' : '?'}`)
    return `[${[...elements, ...(restType === 'never' ? [] : [`...(${restType})[]`])].join(', ')}]`
  }

  return { typeOf, declarations: () => declarations }
}

function tryToIndex(schema: unknown): SchemaIndex | null {
  try {
    return indexSchema(schema, createBudget(INDEX_STEPS))
  } catch {
    // The service cannot use this schema either.
    return null
  }
}

function tryToResolve(reference: string, { index, open }: { index: SchemaIndex; open: readonly object[] }): unknown {
  const from = open.at(-1)
  try {
    return from === undefined ? true : index.resolve(reference, from)
  } catch {
    // The reference leads out of the schema, or nowhere.
    return true
  }
}

function describesObject({ properties, required, additionalProperties }: Record<string, unknown>): boolean {
  return isObject(properties) || Array.isArray(required) || isObject(additionalProperties)
}

function union(types: string[]): string {
  const distinct = [...new Set(types)]
  if (distinct.length === 0 || distinct.includes('unknown')) return 'unknown'
  const inhabited = distinct.filter((type) => type !== 'never')
  return inhabited.length > 1 ? `(${inhabited.join(' | ')})` : (inhabited[0] ?? 'never')
}

function intersection(types: string[]): string {
  const distinct = [...new Set(types)].filter((type) => type !== 'unknown')
  if (distinct.includes('never')) return 'never'
  return distinct.length > 1 ? `(${distinct.join(' & ')})` : (distinct[0] ?? 'unknown')
}

function noteOf(schema: unknown): string {
  return isObject(schema) && typeof schema.description === 'string' ? comment(schema.description) : ''
}

function titleOf(schema: object): string {
  return 'title' in schema && typeof schema.title === 'string' ? ` ${schema.title}` : ' part'
}

/** In PascalCase: `order approve input` is `OrderApproveInput`. */
function identifier(text: string): string {
  const words = text.match(/[A-Za-z0-9]+/g) ?? []
  const name = words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('')
  return /^[A-Z]/.test(name) ? name : `Type${name}`
}
