/** Converts the argument of `defineCatalog` to catalog entries. Checks every part, for callers without TypeScript. */

import { createBudget } from '../../shared/json-schema/check.ts'
import { compileSchema, validateValue } from '../../shared/json-schema/compile.ts'
import { isObject } from '../../shared/lib/json.ts'
import type { CatalogEntry, HandlerEntry, JsonSchema } from '../../shared/wire/catalog.ts'
import { handlerNameError } from './check-name.ts'
import { toJsonSchema } from './schemas/json-schema.ts'

const HANDLER_KEYS = ['description', 'input', 'inputOptional', 'output']
const WORKFLOW_KEYS = ['description', 'aliases', 'input', 'inputOptional', 'output', 'signals', 'queries', 'updates']

/** Adds an error for each invalid part to `errors`, starting with its path: `greet.signals.approve.input: …`. */
export function parseDescriptions(workflows: unknown, errors: string[]): CatalogEntry[] {
  if (!isObject(workflows)) {
    errors.push(`the catalog must be an object with a key for each workflow, not ${kindOf(workflows)}`)
    return []
  }
  return Object.entries(workflows).map(([name, workflow]) => parseWorkflow(name, workflow, errors))
}

function parseWorkflow(name: string, workflow: unknown, errors: string[]): CatalogEntry {
  const description = parseObject(workflow, name, WORKFLOW_KEYS, errors)
  return {
    ...parseHandler(name, description, name, errors),
    aliases: parseAliases(description.aliases, `${name}.aliases`, errors),
    signals: parseHandlers(description.signals, `${name}.signals`, errors),
    queries: parseHandlers(description.queries, `${name}.queries`, errors),
    updates: parseHandlers(description.updates, `${name}.updates`, errors),
  }
}

/** The handlers of a workflow, or the activities of the catalog. */
export function parseHandlers(handlers: unknown, path: string, errors: string[]): HandlerEntry[] {
  if (handlers === undefined) return []
  if (!isObject(handlers)) {
    errors.push(`${path}: must be an object with a key for each handler, not ${kindOf(handlers)}`)
    return []
  }
  return Object.entries(handlers).map(([name, handler]) => {
    const error = handlerNameError(name)
    if (error !== null) errors.push(`${path}: the name "${name}" ${error}`)
    return parseHandler(name, parseObject(handler, `${path}.${name}`, HANDLER_KEYS, errors), `${path}.${name}`, errors)
  })
}

function parseHandler(name: string, given: Record<string, unknown>, path: string, errors: string[]): HandlerEntry {
  const { description = null, input, inputOptional, output } = given
  const isValid = description === null || typeof description === 'string'
  if (!isValid) errors.push(`${path}.description: must be a string, not ${kindOf(description)}`)
  const inputSchema = parseSchema(input, 'input', path, errors)
  return {
    name,
    description: isValid ? description : null,
    inputSchema,
    inputOptional: parseInputOptional(inputOptional, `${path}.inputOptional`, { input, inputSchema }, errors),
    outputSchema: parseSchema(output, 'output', path, errors),
  }
}

function parseSchema(schema: unknown, io: 'input' | 'output', path: string, errors: string[]): JsonSchema | null {
  return schema === undefined ? null : toJsonSchema(schema, io, (error) => errors.push(`${path}.${io}: ${error}`))
}

/** What the worker declares, otherwise whether its schema accepts a missing argument. Null without a schema. */
function parseInputOptional(
  given: unknown,
  path: string,
  { input, inputSchema }: { input: unknown; inputSchema: JsonSchema | null },
  errors: string[],
): boolean | null {
  if (given !== undefined && typeof given !== 'boolean') errors.push(`${path}: must be a boolean, not ${kindOf(given)}`)
  if (given !== undefined && input === undefined) errors.push(`${path}: has no effect without input`)
  if (inputSchema === null) return null
  return typeof given === 'boolean' ? given : acceptsNothing(input, inputSchema)
}

function parseAliases(aliases: unknown = [], path: string, errors: string[]): string[] {
  if (!Array.isArray(aliases)) {
    errors.push(`${path}: must be an array of strings, not ${kindOf(aliases)}`)
    return []
  }
  for (const alias of aliases) {
    if (typeof alias !== 'string') errors.push(`${path}: must contain only strings, not ${kindOf(alias)}`)
  }
  return aliases.filter((alias) => typeof alias === 'string')
}

function parseObject(given: unknown, path: string, keys: string[], errors: string[]): Record<string, unknown> {
  if (!isObject(given)) {
    errors.push(`${path}: must be an object ({} is allowed), not ${kindOf(given)}`)
    return {}
  }
  for (const key of Object.keys(given)) {
    if (!keys.includes(key)) errors.push(`${path}: unknown key "${key}"; ${suggestion(key, keys)}`)
  }
  return given
}

function suggestion(key: string, keys: string[]): string {
  const word = key.toLowerCase()
  const meant = keys.find((known) => word.startsWith(known) || known.startsWith(word))
  return meant === undefined ? `the known keys are ${keys.join(', ')}` : `did you mean "${meant}"?`
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'string' ? `the string ${JSON.stringify(value.slice(0, 100))}` : typeof value
}

/**
 * Whether a worker that parses its argument with this schema accepts a call without one. True if that is unknown, so
 * that the API does not reject what the worker accepts.
 */
function acceptsNothing(schema: unknown, published: JsonSchema): boolean {
  if (isNever(published)) return true
  const validateNothing = validatorOf(schema)
  return validateNothing === null ? acceptsAnything(published) : validateNothing()
}

/** Whether no value matches, so that there can be no argument. */
function isNever(published: JsonSchema): boolean {
  if (typeof published === 'boolean') return !published
  return isObject(published.not) && Object.keys(published.not).length === 0
}

/** The validation of a library that supports Standard Schema: https://standardschema.dev. */
function validatorOf(schema: unknown): (() => boolean) | null {
  const standard: unknown = Reflect.get(Object(schema), '~standard')
  // The result of `z.toJSONSchema` has the key too, but cannot validate.
  if (!isObject(standard) || typeof standard.validate !== 'function') return null
  const { validate } = standard
  return () => {
    try {
      const result: unknown = Reflect.apply(validate, standard, [undefined])
      if (!(result instanceof Promise)) return Reflect.get(Object(result), 'issues') === undefined
      // The result of an asynchronous validation is not used.
      result.catch(() => {})
      return true
    } catch {
      // The worker's own code threw an error, which says nothing about the argument.
      return true
    }
  }
}

// One value of each JSON type.
const VALUES = [null, true, 0, '', [], {}]

/** JSON has no undefined, so a JSON Schema accepts a missing argument only if it accepts every value. */
function acceptsAnything(published: JsonSchema): boolean {
  const unlimited = createBudget(Number.POSITIVE_INFINITY)
  const compiled = compileSchema(published, unlimited)
  return VALUES.every((value) => validateValue(compiled, value, unlimited).issues.length === 0)
}
