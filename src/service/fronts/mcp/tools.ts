/** The tools of a catalog: one for each workflow that the caller may start. */

import { sharesBySize } from '../../../shared/json-schema/published/published-schema.ts'
import type { ShownSchema } from '../../../shared/json-schema/published/schema-keywords.ts'
import type { CatalogEntry, HandlerEntry } from '../../../shared/wire/catalog.ts'
import { workflowNameIssue } from '../../../shared/wire/names.ts'
import type { CatalogListing } from '../../model/catalog-listing.ts'
import { type ArgumentForm, fittingOutputSchema, inputSchemaOf, outputSchemaOf } from './schemas/tool-schema.ts'
import { toolNameOf } from './tool-name.ts'

/** `Tool` of the protocol. */
export interface Tool {
  name: string
  title?: string
  description: string
  inputSchema: ShownSchema
  outputSchema?: ShownSchema
  annotations: object
}

export interface WorkflowTool {
  tool: Tool
  workflowName: string
  form: ArgumentForm
  isOptional: boolean
  /** The schema of all results; null if nothing is known about the output. */
  outputSchema: ShownSchema | null
}

/** The tools in the order of the catalog. */
export interface ToolSet {
  tools: readonly WorkflowTool[]
  /** By the names of tools, and by the names and aliases of workflows. */
  byName: ReadonlyMap<string, WorkflowTool>
  byWorkflow: ReadonlyMap<string, WorkflowTool>
}

// In units of about 50 ns: 0.4 s for the largest catalog.
const BUDGET = 8_000_000

// The keys are the cached entries of a catalog, so that both are dropped together. The values are not promises, because
// on workerd a request cannot await the promise of another one.
const known = new WeakMap<readonly CatalogEntry[], ToolSet>()

export async function toolsOf(listing: CatalogListing): Promise<ToolSet> {
  const existing = known.get(listing.workflows)
  if (existing !== undefined) return existing
  const created = await createTools(listing)
  known.set(listing.workflows, created)
  return created
}

async function createTools({ workflows, inputsChecked }: CatalogListing): Promise<ToolSet> {
  const entries = workflows.filter(({ name }) => workflowNameIssue(name) === null)
  const published = entries.flatMap(({ inputSchema, outputSchema }) => [inputSchema, outputSchema])
  const budgetOf = sharesBySize(
    BUDGET,
    published.filter((schema) => schema !== null),
  )
  const names = await Promise.all(entries.map(({ name }) => toolNameOf(name)))
  const tools = entries.map((entry, index) => {
    const isOptional = entry.inputOptional === true || !inputsChecked
    const input = inputSchemaOf(entry.inputSchema, { isOptional, requiresDefaults: inputsChecked, budgetOf })
    const outputSchema = outputSchemaOf(entry.outputSchema, budgetOf)
    const name = names[index] ?? ''
    const tool: Tool = {
      name,
      ...(name !== entry.name && { title: entry.name }),
      description: descriptionOf(entry),
      inputSchema: input.schema,
      outputSchema: fittingOutputSchema(outputSchema, input.schema),
      // No other annotations: the protocol then assumes that the tool may do anything, which is true.
      annotations: { readOnlyHint: false },
    }
    return {
      tool,
      workflowName: entry.name,
      form: input.form,
      isOptional,
      outputSchema: entry.outputSchema === null ? null : outputSchema,
    }
  })
  const byWorkflow = new Map(tools.map((one) => [one.workflowName, one]))
  const aliases = entries.flatMap(({ name, aliases }) => aliases.map((alias) => [alias, byWorkflow.get(name)] as const))
  const named = await Promise.all(aliases.map(async ([alias, one]) => [await toolNameOf(alias), one] as const))
  const all = [...named, ...tools.map((one) => [one.tool.name, one] as const)]
  const byName = new Map(all.flatMap(([name, one]) => (one === undefined ? [] : [[name, one] as const])))
  return { tools, byName, byWorkflow }
}

// Hosts reject or truncate longer ones.
const MAX_DESCRIPTION = 1024

function descriptionOf({ name, description, signals, queries, updates }: CatalogEntry): string {
  const handlers = [
    ...signals.map((handler) => handlerText('signal', handler)),
    ...queries.map((handler) => handlerText('query', handler)),
    ...updates.map((handler) => handlerText('update', handler)),
  ]
  const sentences = [
    description ?? `Runs the workflow ${name}.`,
    ...(handlers.length === 0 ? [] : [`While it runs it takes: ${handlers.join('; ')}`]),
  ]
  const text = sentences.join('\n')
  if (text.length <= MAX_DESCRIPTION) return text
  // Half of a surrogate pair is not a character.
  return `${text.slice(0, MAX_DESCRIPTION - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}

function handlerText(kind: string, { name, description }: HandlerEntry): string {
  return description === null ? `${kind} ${name}` : `${kind} ${name}: ${description}`
}
