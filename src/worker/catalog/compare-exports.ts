import { nearest } from '../../shared/lib/nearest.ts'
import type { CatalogDefinition } from '../../shared/wire/catalog.ts'

// The SDK's own names for a workflow that takes any type, and for interceptors.
const ANY_WORKFLOW = 'default'
const NO_WORKFLOWS = new Set([ANY_WORKFLOW, 'interceptors'])

const MAX_LISTED = 10

/** Warnings if the catalog lists other workflows than the bundle exports. */
export function compareExports({ workflows }: CatalogDefinition, exported: readonly string[]): string[] {
  const listed = new Set(workflows.map(({ name }) => name))
  const unknown = exported.includes(ANY_WORKFLOW) ? [] : [...listed].filter((name) => !exported.includes(name))
  const missing = exported.filter((name) => !listed.has(name) && !NO_WORKFLOWS.has(name))
  const shown = missing.slice(0, MAX_LISTED).map((name) => JSON.stringify(name))
  const more = missing.length > MAX_LISTED ? ` and ${missing.length - MAX_LISTED} more` : ''
  return [
    ...unknown.map((name) => {
      const similar = nearest(
        name,
        exported.filter((other) => !NO_WORKFLOWS.has(other)),
      )
      const hint = similar === null ? '' : `; did you mean "${similar}"?`
      return `The catalog lists "${name}", which the workflow bundle does not export: its runs cannot proceed${hint}`
    }),
    ...(missing.length === 0
      ? []
      : [
          `The workflow bundle exports ${shown.join(', ')}${more}, which the catalog lacks: the API does not start what it lacks`,
        ]),
  ]
}
