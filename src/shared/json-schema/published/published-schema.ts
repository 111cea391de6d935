/**
 * A schema that a worker has published, as schemas of a document that other programs read: everything that it refers to
 * becomes a component.
 */

import { isObject } from '../../lib/json.ts'
import { type Budget, createBudget } from '../check.ts'
import type { Dialect } from '../dialects.ts'
import { BudgetExceededError, SchemaError } from '../errors.ts'
import { requiredNames } from '../required-names.ts'
import { indexSchema, refStandsAlone, type SchemaIndex } from '../schema-index.ts'
import { isInPlace, subschemasInPlace } from '../subschemas.ts'
import type { Identifiers } from './identifiers.ts'
import { createLosses } from './losses.ts'
import { readableSchema, withoutOneOf } from './readable-schema.ts'
import { constrains, KEYWORDS, type ShownSchema } from './schema-keywords.ts'

/** As workers publish it. */
export type PublishedSchema = Record<string, unknown> | boolean

// Each level takes two or three levels of JSON, of which other programs read at most 100. No worker needs more.
const MAX_DEPTH = 30

// What following a reference costs, in units of the budget.
const STEP = 20

/** The schema `false` is shown as this. */
export const NOTHING: ShownSchema = { not: {} }

/** Where the schemas are added, and how much work that may take. */
export interface PublishTarget {
  identifiers: Identifiers
  components: Record<string, ShownSchema>
  /** What references begin with: the JSON Pointer to `components` in the document, with a slash at its end. */
  refPrefix: string
  budgetOf: (schema: PublishedSchema) => Budget
  /**
   * Whether fields with a default can be required. If not, the schema describes a parsed value, in which such fields
   * are always set.
   */
  requiresDefaults: boolean
}

/** Adds the components of the schema, and returns a reference to the first one, whose name is `name`. */
export function publishSchema(root: PublishedSchema, name: string, target: PublishTarget): ShownSchema {
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

function referenceTo(name: string, { refPrefix }: PublishTarget): ShownSchema {
  return { $ref: `${refPrefix}${name}` }
}

function componentsOf(root: Record<string, unknown>, name: string, target: PublishTarget): Record<string, ShownSchema> {
  const { identifiers, requiresDefaults } = target
  const budget = target.budgetOf(root)
  const index = indexSchema(root, budget)
  const targetOf = targetsIn(index)
  const targets = referencedSchemas(root, targetOf)
  const names = new Map<object, string>([[root, name]])
  for (const [target, wish] of targets) if (!names.has(target)) names.set(target, identifiers.take(`${name}_${wish}`))
  /** Whether the reference in a schema closes a loop. */
  const loops = new Map<object, boolean>()
  const losses = createLosses()
  // The first time only to find which components lose something: a condition that refers to one is not shown.
  showAll()
  losses.spread()
  return Object.fromEntries(showAll())

  function showAll(): [string, ShownSchema][] {
    return [...names].map(([schema, own]) => {
      losses.enter(schema)
      return [own, show(schema, 0, true)]
    })
  }

  function show(schema: unknown, depth: number, isComponent = false): ShownSchema {
    if (schema === false) return { not: {} }
    if (!isObject(schema) || depth > MAX_DEPTH) {
      if (schema !== true) losses.add()
      return {}
    }
    const component = isComponent ? undefined : names.get(schema)
    if (component === undefined) return showKeywords(schema, depth)
    losses.refer(schema)
    return referenceTo(component, target)
  }

  function showKeywords(schema: Record<string, unknown>, depth: number): ShownSchema {
    const { dialect } = index.positionOf(schema)
    if (dialect === null) {
      losses.add()
      return { description: 'The published schema has a dialect that is not supported' }
    }
    const [reference, isReferenceLoose] = losses.watch(() => showReference(schema, depth))
    if (refStandsAlone(schema, dialect)) return reference
    const loose = new Set(isReferenceLoose ? ['$ref'] : [])
    const wanted = withRequired(schema)
    const entries = Object.entries(inNewWords(wanted, dialect)).flatMap(([keyword, value]) => {
      const [shownValue, isLoose] = losses.watch(() => showKeyword(keyword, value, depth))
      if (isLoose) loose.add(keyword)
      return shownValue === undefined ? [] : [[keyword, shownValue]]
    })
    return readableSchema(withoutStricter({ ...reference, ...Object.fromEntries(entries) }, loose))
  }

  function showKeyword(keyword: string, value: unknown, depth: number): unknown {
    const shown = KEYWORDS.get(keyword)?.(value, (inner) => show(inner, depth + 1))
    if (shown === undefined && constrains(keyword)) losses.add()
    return shown
  }

  function withRequired(schema: Record<string, unknown>): Record<string, unknown> {
    if (requiresDefaults) return schema
    const required = requiredNames(schema, requiresDefaults)
    if (required.length < requiredNames(schema, true).length) losses.add()
    return { ...schema, required }
  }

  /** Empty if there is no reference, or if it cannot be shown. */
  function showReference(schema: object, depth: number): ShownSchema {
    const target = targetOf(schema)
    const isLoop = target !== null && (loops.get(schema) ?? closesLoop(schema, target))
    loops.set(schema, isLoop)
    if (target !== null && !isLoop) return show(target, depth + 1)
    if (Object.hasOwn(schema, '$ref')) losses.add()
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
    const target = loops.get(schema) ? null : targetOf(schema)
    return [...subschemasInPlace(schema), ...(target === null ? [] : [target])]
  }
}

/** Without what rejects more because of keywords that have lost something, and so accept more. */
function withoutStricter(shown: ShownSchema, loose: ReadonlySet<string>): ShownSchema {
  const stricter = new Set([...loose].flatMap((keyword) => STRICTER.get(keyword) ?? []))
  if ([...loose].some((keyword) => isInPlace(keyword))) stricter.add('unevaluatedProperties').add('unevaluatedItems')
  // These would apply to properties that match a pattern which cannot be shown.
  if (loose.has('patternProperties') && shown.patternProperties === undefined)
    stricter.add('additionalProperties').add('unevaluatedProperties')
  const kept = Object.fromEntries(Object.entries(shown).filter(([keyword]) => !stricter.has(keyword)))
  return loose.has('oneOf') ? withoutOneOf(kept) : kept
}

/** The keywords that reject more if the first one accepts more, or is left out. */
const STRICTER: ReadonlyMap<string, readonly string[]> = new Map([
  ['not', ['not']],
  ['if', ['if', 'then', 'else']],
  ['contains', ['maxContains']],
])

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

/** Without keywords that mean nothing in the dialect, and in the words of 2020-12. */
function inNewWords(original: Record<string, unknown>, { foreign }: Dialect): Record<string, unknown> {
  const known = Object.fromEntries(Object.entries(original).filter(([keyword]) => !foreign.has(keyword)))
  if (!foreign.has('prefixItems')) return known
  const { items, additionalItems, dependencies, ...schema } = known
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
