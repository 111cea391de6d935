/** Compiles a JSON Schema to a check, and validates values with it. */
import { isObject, pointerKeys } from '../lib/json.ts'
import {
  type Budget,
  type Check,
  COST,
  type Compiler,
  type Context,
  type Evaluated,
  type Location,
  report,
  type SchemaIssue,
  toIssue,
  type Violation,
} from './check.ts'
import type { Dialect } from './dialects.ts'
import { CircularReferenceError, SchemaError, UnsupportedError } from './errors.ts'
import { indexSchema, refStandsAlone, type SchemaIndex } from './schema-index.ts'
import { appliesSubschemas } from './subschemas.ts'

export type JsonSchema = Record<string, unknown> | boolean

export interface CompiledSchema {
  check: Check
  /** The keywords that are skipped because they cannot be evaluated: JSON Pointer and reason. */
  skipped: string[]
  /** Those of `skipped` that are invalid, not only unsupported. */
  invalid: string[]
}

// Every nested schema counts, and every `$ref` on the way.
const MAX_DEPTH = 1500

const MAX_SKIPPED = 10

/**
 * A keyword that cannot be evaluated is skipped, so that more values are valid. Below `not` and the like fewer would be
 * valid, so there the keyword around it is skipped.
 *
 * Throws a `SchemaError` for an unknown dialect, a `BudgetExceededError` for a schema that is too large.
 */
export function compileSchema(root: JsonSchema, budget: Budget): CompiledSchema {
  const index = indexSchema(root, budget)
  const skipped: string[] = []
  const invalid: string[] = []

  const skip: Replace = (keyword, pointer, error) => {
    const entry = `${pointer}/${keyword}: ${error.message}`
    if (skipped.length < MAX_SKIPPED) skipped.push(entry)
    if (invalid.length < MAX_SKIPPED && !(error instanceof UnsupportedError)) invalid.push(entry)
    return appliesSubschemas(keyword) ? markAllEvaluated : null
  }

  const exact = schemaCompiler(index, budget, (_keyword, _pointer, error) => {
    throw error
  })
  const lenient = schemaCompiler(index, budget, skip, (schema) => {
    try {
      return exact.compile(schema)
    } catch (error) {
      // Some of the exact compiler's checks are incomplete now.
      exact.reset()
      throw error
    }
  })
  return { check: lenient.compile(root), skipped, invalid }
}

/** What to check, if anything, instead of a keyword that cannot be compiled. May throw. */
type Replace = (keyword: string, pointer: string, error: SchemaError) => Check | null

interface SchemaCompiler {
  compile(schema: unknown): Check
  /** Forgets what is compiled. */
  reset(): void
}

/** Without `compileExact` it is exact itself. */
function schemaCompiler(
  index: SchemaIndex,
  budget: Budget,
  replace: Replace,
  compileExact?: Compiler['compileExact'],
): SchemaCompiler {
  const checks = new Map<object, Check>()
  const compiler: Compiler = {
    exact: compileExact === undefined,
    compile,
    compileExact: compileExact ?? compile,
    resolve: index.resolve,
    budget,
  }

  function compile(schema: unknown): Check {
    if (schema === true) return () => true
    if (schema === false) return (_value, at, context) => report(context, at, 'is not allowed')
    if (!isObject(schema)) throw new SchemaError('a subschema must be an object or a boolean')
    return checks.get(schema) ?? compileObject(schema)
  }

  function compileObject(schema: Record<string, unknown>): Check {
    budget.spend(COST.compileSubschema)
    const { dialect, pointer } = index.positionOf(schema)
    if (dialect === null) throw unknownDialect(schema)
    const keywords: Check[] = []
    const check = checkOf(keywords, pointer, index)
    // Set before the keywords are compiled, which may refer to it.
    checks.set(schema, check)
    for (const [keyword, compileKeyword] of keywordsOf(schema, dialect)) {
      const made = schemaErrorOr(() => compileKeyword(schema[keyword], schema, compiler))
      const check = made instanceof SchemaError ? replace(keyword, pointer, made) : made
      if (check !== null) keywords.push(check)
    }
    return check
  }

  return { compile, reset: () => checks.clear() }
}

function keywordsOf(schema: object, dialect: Dialect): Dialect['keywords'] {
  if (refStandsAlone(schema, dialect)) return dialect.keywords.filter(([keyword]) => keyword === '$ref')
  return dialect.keywords.filter(([keyword]) => Object.hasOwn(schema, keyword))
}

function unknownDialect({ $schema }: Record<string, unknown>): SchemaError {
  const shown = JSON.stringify($schema)?.slice(0, 200)
  return new SchemaError(`$schema ${shown} is not supported; use JSON Schema 2020-12, 2019-09, draft-07 or draft-06`)
}

/** A skipped keyword might have evaluated anything. */
const markAllEvaluated: Check = (_value, _at, _context, evaluated) => {
  if (evaluated !== null) evaluated.all = true
  return true
}

function schemaErrorOr<T>(make: () => T): T | SchemaError {
  try {
    return make()
  } catch (error) {
    if (error instanceof SchemaError) return error
    throw error
  }
}

function checkOf(keywords: Check[], pointer: string, index: SchemaIndex): Check {
  let current: Location | null = null
  return (value, at, context, evaluated) => {
    if (current === at) throw new CircularReferenceError(`${pointer || 'the schema'} refers to itself without end`)
    const outer = current
    current = at
    const isValid = checkKeywords(keywords, index.usesUnevaluated, value, at, context, evaluated)
    current = outer
    return isValid
  }
}

function checkKeywords(
  keywords: Check[],
  usesUnevaluated: boolean,
  value: unknown,
  at: Location,
  context: Context,
  outer: Evaluated | null,
): boolean {
  context.budget.spend(COST.applySubschema(keywords.length))
  if (++context.depth > MAX_DEPTH) throw new SchemaError(`more than ${MAX_DEPTH} nested schemas apply to the value`)
  const evaluated: Evaluated | null = usesUnevaluated ? { all: false, keys: new Set(), items: new Set() } : null
  let isValid = true
  for (const keyword of keywords) if (!keyword(value, at, context, evaluated)) isValid = false
  if (isValid && evaluated !== null && outer !== null) mergeEvaluated(evaluated, outer, context)
  context.depth--
  return isValid
}

function mergeEvaluated({ all, keys, items }: Evaluated, outer: Evaluated, { budget }: Context): void {
  budget.spend(COST.mergeEvaluated(keys.size + items.size))
  outer.all ||= all
  for (const key of keys) outer.keys.add(key)
  for (const item of items) outer.items.add(item)
}

export interface ValidationResult {
  issues: SchemaIssue[]
  /** Why validation ended without a result: the budget is spent, or a keyword cannot be evaluated. Null otherwise. */
  abortedBy: unknown
}

/**
 * Validates a value that stands at `pointer`; empty for the whole document. Throws a `CircularReferenceError` for a
 * schema that never ends.
 */
export function validateValue(
  { check }: Pick<CompiledSchema, 'check'>,
  value: unknown,
  budget: Budget,
  pointer = '/',
): ValidationResult {
  const violations: Violation[] = []
  let abortedBy: unknown = null
  try {
    check(value, toLocation(pointer), { budget, violations, depth: 0 }, null)
  } catch (error) {
    if (error instanceof CircularReferenceError) throw error
    // If a violation was found before, the value is invalid anyway.
    if (violations.length === 0) abortedBy = error
  }
  const issues = violations.map(toIssue)
  // The location of the whole document has an empty key.
  return { issues: pointer === '' ? issues.map(withoutFirstKey) : issues, abortedBy }
}

function withoutFirstKey({ path, message }: SchemaIssue): SchemaIssue {
  return { path: path.slice(1), message }
}

function toLocation(pointer: string): Location {
  const [key = '', ...rest] = pointerKeys(pointer)
  return rest.reduce((parent: Location, key) => ({ parent, key }), { parent: null, key })
}
