import type { CatalogDefinition, CatalogEntry, HandlerEntry } from '../../shared/wire/catalog.ts'
import { workflowNameError } from './check-name.ts'
import { parseDescriptions, parseHandlers } from './parse-descriptions.ts'
import { uncheckedIn } from './schemas/json-schema.ts'
import type { HandlerDescription, WorkflowDescriptions, WorkflowImplementation } from './workflow-description.ts'

/**
 * Defines a worker's catalog, for `runWorker` or `porticoPlugin` to publish. Only workflows in the catalog can be
 * started through the API.
 *
 * `defineCatalog<typeof workflows>`, with `import type * as workflows from './workflows.ts'`, checks the catalog
 * against the workflows module: every name must be an exported workflow, and typed schemas must match its argument
 * and return types. If the module exports signal, query or update definitions, handlers in the catalog must be among
 * them.
 *
 * `activities` describes those that can be started without a workflow. Without any, the API starts any of the worker.
 *
 * Throws a `TypeError` that lists every error: reserved or duplicate names, unknown keys, invalid schemas, schemas
 * that cannot be converted to JSON Schema, or a catalog of more than 2 MiB.
 */
export function defineCatalog<Workflows = Record<string, WorkflowImplementation>>(
  workflows: WorkflowDescriptions<Workflows>,
  { activities }: { activities?: Readonly<Record<string, HandlerDescription>> } = {},
): CatalogDefinition {
  const errors: string[] = []
  const entries = parseDescriptions(workflows, errors)
  const workflowNames = toWorkflowNames(entries, errors)
  const alone = parseHandlers(activities, 'activities', errors)
  const catalog = {
    workflows: entries,
    workflowNames: Object.fromEntries(workflowNames),
    ...(alone.length > 0 && { activities: alone }),
  }
  const tooLarge = errors.length === 0 ? sizeError(catalog) : null
  if (tooLarge !== null) errors.push(tooLarge)
  if (errors.length > 0) throw new TypeError(`Invalid catalog:\n${errors.map((error) => `- ${error}`).join('\n')}`)
  return catalog
}

/** Canonical names by name and alias. */
function toWorkflowNames(entries: CatalogEntry[], errors: string[]): Map<string, string> {
  const canonicalNames = new Map<string, string>()

  function add(name: string, canonicalName: string, path: string): void {
    const error = workflowNameError(name)
    if (error !== null) errors.push(`${path}: the name "${name}" ${error}`)
    const taken = canonicalNames.get(name)
    if (taken !== undefined) errors.push(`${path}: "${name}" is already a name or alias of ${taken}`)
    else canonicalNames.set(name, canonicalName)
  }

  for (const { name, aliases } of entries) {
    add(name, name, name)
    for (const alias of aliases) add(alias, name, `${name}.aliases`)
  }
  return canonicalNames
}

// Temporal's default limit for one payload, `limit.blobSize.error`.
const MAX_PAYLOAD_BYTES = 2 * 1024 * 1024

// The payload's encoding metadata and length prefixes.
const OVERHEAD_BYTES = 64

const MAX_BYTES = MAX_PAYLOAD_BYTES - OVERHEAD_BYTES

/** Why the catalog is too large for the engine; null when it is small enough. */
function sizeError(definition: CatalogDefinition): string | null {
  const bytes = jsonBytes(definition)
  if (bytes <= MAX_BYTES) return null
  const sizes = definition.workflows.map((workflow) => ({ name: workflow.name, bytes: jsonBytes(workflow) }))
  const largest = sizes.reduce((one, other) => (other.bytes > one.bytes ? other : one), { name: '', bytes: 0 })
  return (
    `the catalog is too large: ${bytes} bytes as JSON, the maximum is ${MAX_BYTES}; ` +
    `the largest workflow is "${largest.name}" with ${largest.bytes} bytes`
  )
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}

// Further ones would not be read.
const MAX_LISTED = 10

/** A line for each input of which the API does not check all, because JSON Schema cannot express it. */
export function uncheckedInputs({ workflows, activities = [] }: CatalogDefinition): string[] {
  const ofActivities = activities.flatMap((activity) => lineOf(`activities.${activity.name}`, activity))
  const ofWorkflows = workflows.flatMap((workflow) => [
    ...lineOf(workflow.name, workflow),
    ...workflow.signals.flatMap((handler) => lineOf(`${workflow.name}.signals.${handler.name}`, handler)),
    ...workflow.queries.flatMap((handler) => lineOf(`${workflow.name}.queries.${handler.name}`, handler)),
    ...workflow.updates.flatMap((handler) => lineOf(`${workflow.name}.updates.${handler.name}`, handler)),
  ])
  return [...ofWorkflows, ...ofActivities]
}

function lineOf(owner: string, { inputSchema }: Pick<HandlerEntry, 'inputSchema'>): string[] {
  const all = uncheckedIn(inputSchema)
  if (all.length === 0) return []
  const more = all.length - MAX_LISTED
  const listed = all.slice(0, MAX_LISTED).join(', ') + (more > 0 ? `, and ${more} more` : '')
  const isOne = all.length === 1 && !all[0]?.includes(' and ')
  return [`${owner}: ${listed} ${isOne ? 'is' : 'are'} not checked by Portico`]
}
