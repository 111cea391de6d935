/** Converts the argument of `defineCatalog` to catalog entries. Checks every part, for callers without TypeScript. */
import { isObject } from '../../lib/json.ts'
import type { CatalogEntry, HandlerEntry, JsonSchema } from '../../protocol/catalog.ts'
import { handlerNameError } from './check-name.ts'
import { acceptsNothing } from './schemas/accepts-nothing.ts'
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

function parseHandlers(handlers: unknown, path: string, errors: string[]): HandlerEntry[] {
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
