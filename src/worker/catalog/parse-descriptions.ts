/** From what `defineCatalog` is given to what is published. Plain JavaScript has no compiler: each part is checked. */

import { isObject } from '../../lib/is-object.ts'
import type { CatalogEntry, HandlerEntry, JsonSchema } from '../../protocol/catalog.ts'
import { handlerNameFault } from '../../protocol/names.ts'
import { objectNameFault } from './check-name.ts'
import { toJsonSchema } from './json-schema.ts'

const HANDLER_KEYS = ['description', 'input', 'output']
const WORKFLOW_KEYS = ['description', 'aliases', 'input', 'output', 'signals', 'queries', 'updates']

/** Adds to `faults` each thing that is wrong, with the workflow and the handler. */
export function toEntries(workflows: unknown, faults: string[]): CatalogEntry[] {
  if (!isObject(workflows)) {
    faults.push(`it must be an object with a key for each workflow, not ${kindOf(workflows)}`)
    return []
  }
  return Object.entries(workflows).map(([name, workflow]) => toEntry(name, workflow, faults))
}

function toEntry(name: string, workflow: unknown, faults: string[]): CatalogEntry {
  const parts = partsOf(workflow, name, WORKFLOW_KEYS, faults)
  return {
    ...toHandlerEntry(name, parts, name, faults),
    aliases: toAliases(parts.aliases, `${name}.aliases`, faults),
    signals: toHandlerEntries(parts.signals, `${name}.signals`, faults),
    queries: toHandlerEntries(parts.queries, `${name}.queries`, faults),
    updates: toHandlerEntries(parts.updates, `${name}.updates`, faults),
  }
}

function toHandlerEntries(handlers: unknown, where: string, faults: string[]): HandlerEntry[] {
  if (handlers === undefined) return []
  if (!isObject(handlers)) {
    faults.push(`${where}: must be an object with a key for each handler, not ${kindOf(handlers)}`)
    return []
  }
  return Object.entries(handlers).map(([name, handler]) => {
    const fault = handlerNameFault(name) ?? objectNameFault(name)
    if (fault !== null) faults.push(`${where}: the name "${name}" ${fault}`)
    return toHandlerEntry(name, partsOf(handler, `${where}.${name}`, HANDLER_KEYS, faults), `${where}.${name}`, faults)
  })
}

function toHandlerEntry(name: string, parts: Record<string, unknown>, where: string, faults: string[]): HandlerEntry {
  const { description = null, input, output } = parts
  const isText = description === null || typeof description === 'string'
  if (!isText) faults.push(`${where}.description: must be a string, not ${kindOf(description)}`)
  return {
    name,
    description: isText ? description : null,
    inputSchema: toSchema(input, 'input', where, faults),
    outputSchema: toSchema(output, 'output', where, faults),
  }
}

function toSchema(schema: unknown, io: 'input' | 'output', where: string, faults: string[]): JsonSchema | null {
  return schema === undefined ? null : toJsonSchema(schema, io, (fault) => faults.push(`${where}.${io}: ${fault}`))
}

function toAliases(aliases: unknown = [], where: string, faults: string[]): string[] {
  if (!Array.isArray(aliases)) {
    faults.push(`${where}: must be an array of strings, not ${kindOf(aliases)}`)
    return []
  }
  const others = aliases.filter((alias) => typeof alias !== 'string')
  for (const other of others) faults.push(`${where}: must be an array of strings, without ${kindOf(other)}`)
  return aliases.filter((alias) => typeof alias === 'string')
}

function partsOf(described: unknown, where: string, keys: string[], faults: string[]): Record<string, unknown> {
  if (!isObject(described)) {
    faults.push(`${where}: must be an object, {} when there is nothing to say, not ${kindOf(described)}`)
    return {}
  }
  for (const key of Object.keys(described)) {
    if (!keys.includes(key)) faults.push(`${where}: "${key}" is not a known key: ${hint(key, keys)}`)
  }
  return described
}

function hint(key: string, keys: string[]): string {
  const word = key.toLowerCase()
  const meant = keys.find((known) => word.startsWith(known) || known.startsWith(word))
  return meant === undefined ? `there are ${keys.join(', ')}` : `did you mean "${meant}"?`
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'string' ? `the string ${JSON.stringify(value.slice(0, 100))}` : typeof value
}
