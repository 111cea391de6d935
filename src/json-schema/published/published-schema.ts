/**
 * A schema that a worker has published, as schemas of a document that other programs read: everything that it refers to
 * becomes a component.
 */

import { isObject } from '../../lib/json.ts'
import { type Budget, createBudget } from '../check.ts'
import { dialectOf } from '../dialects.ts'
import { BudgetExceededError, SchemaError } from '../errors.ts'
import { requiredNames } from '../required-names.ts'
import { indexSchema, refStandsAlone, type SchemaIndex } from '../schema-index.ts'
import { subschemasInPlace } from '../subschemas.ts'
import type { Identifiers } from './identifiers.ts'
import { readableSchema } from './readable-schema.ts'
import { KEYWORDS, type Schema } from './schema-keywords.ts'

/** As workers publish it. */
export type PublishedSchema = Record<string, unknown> | boolean

// Each level takes two or three levels of JSON, of which other programs read at most 100. No worker needs more.
const MAX_DEPTH = 30

// What following a reference costs, in units of the budget.
const STEP = 20

const DRAFT_07 = dialectOf('http://json-schema.org/draft-07/schema')

/** The schema `false` is shown as this. */
export const NOTHING: Schema = { not: {} }

/** Where the schemas are added, and how much work that may take. */
export interface PublishTarget {
  identifiers: Identifiers
  components: Record<string, Schema>
  /** What references begin with: the JSON Pointer to `components` in the document, with a slash at its end. */
  refPrefix: string
  budgetOf: (schema: PublishedSchema) => Budget
  /**
   * Whether fields with a default can be required. If not, the schema describes a parsed value, in which such fields
   * are always set.
   */
  requiresDefaults: boolean
  /** Keywords that are left out. Default: none. */
  omit?: ReadonlySet<string>
}

/** Adds the components of the schema, and returns a reference to the first one, whose name is `name`. */
export function publishSchema(root: PublishedSchema, name: string, target: PublishTarget): Schema {
  const { components } = target
  if (typeof root === 'boolean') return root ? {} : NOTHING
  try {
    Object.assign(components, componentsOf(root, name, target))
  } catch (error) {
    if (!(error instanceof BudgetExceededError || error instanceof SchemaError)) throw error
    components[name] = { description: 'The published schema is too large to be shown' }
  }
  return referenceTo(name, target)
}

function referenceTo(name: string, { refPrefix }: PublishTarget): Schema {
  return { $ref: `${refPrefix}${name}` }
}

function componentsOf(root: Record<string, unknown>, name: string, target: PublishTarget): Record<string, Schema> {
  const { identifiers, requiresDefaults, omit } = target
  const budget = target.budgetOf(root)
  const index = indexSchema(root, budget)
  const targetOf = targetsIn(index)
  const targets = referencedSchemas(root, targetOf)
  const names = new Map<object, string>([[root, name]])
  for (const [target, wish] of targets) if (!names.has(target)) names.set(target, identifiers.take(`${name}_${wish}`))
  const loops = new Set<object>()
  const shown = [...names].map(([schema, own]) => [own, show(schema, 0, true)])
  return Object.fromEntries(shown)

  function show(schema: unknown, depth: number, isComponent = false): Schema {
    if (schema === false) return { not: {} }
    if (!isObject(schema) || depth > MAX_DEPTH) return {}
    const component = isComponent ? undefined : names.get(schema)
    return component === undefined ? showKeywords(schema, depth) : referenceTo(component, target)
  }

  function showKeywords(schema: Record<string, unknown>, depth: number): Schema {
    const { dialect } = index.positionOf(schema)
    if (dialect === null) return { description: 'The published schema has a dialect that is not supported' }
    const reference = showReference(schema, depth)
    if (refStandsAlone(schema, dialect)) return reference
    const wanted = requiresDefaults ? schema : { ...schema, required: requiredNames(schema, requiresDefaults) }
    const entries = Object.entries(dialect === DRAFT_07 ? inNewWords(wanted) : wanted).flatMap(([keyword, value]) => {
      if (omit?.has(keyword) === true) return []
      const shownValue = KEYWORDS.get(keyword)?.(value, (inner) => show(inner, depth + 1))
      return shownValue === undefined ? [] : [[keyword, shownValue]]
    })
    return readableSchema({ ...reference, ...Object.fromEntries(entries) })
  }

  /** Empty if there is no reference, or if it cannot be shown. */
  function showReference(schema: object, depth: number): Schema {
    const target = targetOf(schema)
    if (target === null) return {}
    if (!closesLoop(schema, target)) return show(target, depth + 1)
    loops.add(schema)
    return {}
  }

  /** Whether `target` applies the schema to the same value again, so that tools would resolve the reference forever. */
  function closesLoop(schema: object, target: object): boolean {
    const seen = new Set<object>()
    const open = [target]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      budget.spend(STEP)
      if (next === schema) return true
      if (seen.has(next)) continue
      seen.add(next)
      for (const inner of inPlace(next)) open.push(inner)
    }
    return false
  }

  function inPlace(schema: object): object[] {
    const target = loops.has(schema) ? null : targetOf(schema)
    return [...subschemasInPlace(schema), ...(target === null ? [] : [target])]
  }
}

/** The schema that a `$ref` refers to; null without one, and if it is not a part of the published schema. */
type TargetOf = (schema: object) => object | null

/** The schemas that the others refer to, each with a name. */
function referencedSchemas(root: object, targetOf: TargetOf): Map<object, string> {
  const targets = new Map<object, string>()
  const seen = new Set<unknown>()
  const open: unknown[] = [root]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null || seen.has(next)) continue
    seen.add(next)
    const target = targetOf(next)
    if (target !== null) {
      targets.set(target, targets.get(target) ?? nameOf(String(Reflect.get(next, '$ref'))))
      open.push(target)
    }
    for (const inner of Object.values(next)) open.push(inner)
  }
  return targets
}

/** Resolves each reference once. */
function targetsIn(index: SchemaIndex): TargetOf {
  const targets = new Map<object, object | null>()
  return (schema) => {
    const reference: unknown = Reflect.get(schema, '$ref')
    if (typeof reference !== 'string') return null
    const known = targets.get(schema)
    const target = known === undefined ? resolve(reference, schema, index) : known
    targets.set(schema, target)
    return target
  }
}

function resolve(reference: string, from: object, index: SchemaIndex): object | null {
  try {
    const target = index.resolve(reference, from)
    return isObject(target) ? target : null
  } catch (error) {
    if (error instanceof SchemaError) return null
    throw error
  }
}

function nameOf(reference: string): string {
  const last = reference.split(/[#/]/).at(-1) ?? ''
  return last.replace(/\W+/g, '_').slice(0, 50) || 'schema'
}

/** The keywords of draft-07 whose names or values have changed since. */
function inNewWords({ items, additionalItems, dependencies, ...schema }: Record<string, unknown>) {
  const entries = isObject(dependencies) ? Object.entries(dependencies) : []
  const lists = entries.filter(([, dependency]) => Array.isArray(dependency))
  const schemas = entries.filter(([, dependency]) => !Array.isArray(dependency))
  return {
    ...schema,
    ...(Array.isArray(items) ? { prefixItems: items } : items !== undefined && { items }),
    ...(Array.isArray(items) && additionalItems !== undefined && { items: additionalItems }),
    ...(lists.length > 0 && { dependentRequired: Object.fromEntries(lists) }),
    ...(schemas.length > 0 && { dependentSchemas: Object.fromEntries(schemas) }),
  }
}

/** Divides the units among the schemas, by the size of each. What one does not need is left to those after it. */
export function sharesBySize(units: number, schemas: readonly PublishedSchema[]): (schema: PublishedSchema) => Budget {
  const sizes = new Map(schemas.map((schema) => [schema, JSON.stringify(schema).length]))
  let sizeLeft = schemas.reduce<number>((sum, schema) => sum + (sizes.get(schema) ?? 0), 0)
  let unitsLeft = units

  return (schema) => {
    const size = sizes.get(schema) ?? 0
    const share = createBudget(unitsLeft * Math.min(1, size / sizeLeft))
    sizeLeft -= size
    return {
      spend(cost) {
        share.spend(cost)
        unitsLeft -= cost
      },
    }
  }
}
