import type { CatalogDefinition, CatalogEntry } from '../../protocol/catalog.ts'
import { workflowNameFault } from '../../protocol/names.ts'
import { objectNameFault } from './check-name.ts'
import { sizeFault } from './check-size.ts'
import { toEntries } from './parse-descriptions.ts'
import type { AnyWorkflow, WorkflowDescriptions } from './workflow-description.ts'

/**
 * The catalog of a worker, ready to be published.
 *
 * With `defineCatalog<typeof workflows>` (`import type * as workflows from '../workflows.ts'`) the names have to be those of
 * exported workflows, and typed schemas have to fit what these take and return; if the module exports signals, queries or
 * updates, those of the catalog have to be among them. A workflow that is not in the catalog can't be started through the API.
 *
 * Throws one `TypeError` that lists everything wrong: names that are reserved or given twice, unknown keys, schemas that are
 * broken or that JSON Schema cannot be made of, more bytes than the engine takes.
 */
export function defineCatalog<Workflows = Record<string, AnyWorkflow>>(
  workflows: WorkflowDescriptions<Workflows>,
): CatalogDefinition {
  const faults: string[] = []
  const entries = toEntries(workflows, faults)
  const workflowNames = toWorkflowNames(entries, faults)
  const catalog = { workflows: entries, workflowNames: Object.fromEntries(workflowNames) }
  const tooLarge = faults.length === 0 ? sizeFault(catalog) : null
  if (tooLarge !== null) faults.push(tooLarge)
  if (faults.length > 0)
    throw new TypeError(`This catalog can't be published:\n${faults.map((fault) => `- ${fault}`).join('\n')}`)
  return catalog
}

/** Name or alias to canonical name. */
function toWorkflowNames(entries: CatalogEntry[], faults: string[]): Map<string, string> {
  const names = new Map<string, string>()
  for (const { name, aliases } of entries) {
    for (const [known, what] of [[name, name], ...aliases.map((alias) => [alias, `${name}.aliases`])] as [
      string,
      string,
    ][]) {
      const fault = workflowNameFault(known) ?? objectNameFault(known)
      if (fault !== null) faults.push(`${what}: the name "${known}" ${fault}`)
      const taken = names.get(known)
      if (taken !== undefined) faults.push(`${what}: "${known}" already names ${taken}`)
      else names.set(known, name)
    }
  }
  return names
}
