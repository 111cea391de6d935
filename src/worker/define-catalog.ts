import type { CatalogDefinition, CatalogEntry, HandlerEntry } from '../protocol/catalog.ts'
import { handlerNameFault, workflowNameFault } from '../protocol/names.ts'
import { sizeFault } from './catalog/size-fault.ts'
import { type InputSchema, type OutputSchema, toJsonSchema } from './json-schema.ts'

/** What a catalog says of one workflow; the workflow itself stays as it is. */
export interface WorkflowDescription<Input = unknown, Output = unknown> {
  /** For people. */
  description?: string
  /** Further names it can be started by. */
  aliases?: readonly string[]
  /** Of its one argument: what does not fit is refused before anything is started. */
  input?: InputSchema<Input>
  /** Of what it returns; told, not checked. */
  output?: OutputSchema<Output>
  /** By name, as its workflow has set handlers for them. */
  signals?: Readonly<Record<string, HandlerDescription>>
  /** By name, as its workflow has set handlers for them. */
  queries?: Readonly<Record<string, HandlerDescription>>
  /** By name, as its workflow has set handlers for them. */
  updates?: Readonly<Record<string, HandlerDescription>>
}

/** What a catalog says of a signal, query or update. */
export interface HandlerDescription {
  /** For people. */
  description?: string
  /** Of its one argument. */
  input?: InputSchema
  /** Of what it returns; signals return nothing. */
  output?: OutputSchema
}

type AnyWorkflow = (...args: never[]) => Promise<unknown>

type WorkflowNames<Workflows> = { [Name in keyof Workflows]: Workflows[Name] extends AnyWorkflow ? Name : never }[keyof Workflows]

// Whatever can be called with anything takes any schema.
type InputOf<Args extends unknown[]> = Args extends [] ? unknown : never[] extends Args ? unknown : Args[0]

// JSON has no undefined: what returns nothing answers null.
type OutputOf<Returned> = Returned extends void ? null : Returned

type DescriptionOf<Workflow> = Workflow extends (...args: infer Args) => Promise<infer Returned>
  ? WorkflowDescription<InputOf<Args>, OutputOf<Returned>>
  : never

export type WorkflowDescriptions<Workflows> = { readonly [Name in WorkflowNames<Workflows>]?: DescriptionOf<Workflows[Name]> }

/**
 * The catalog of a worker, ready to be published.
 *
 * With `defineCatalog<typeof workflows>` (`import type * as workflows from './workflows.ts'`) the names have to be those of
 * exported workflows, and zod schemas have to fit what these take and return. A workflow that is not in the catalog can't be
 * started through the API. Throws one `TypeError` that lists everything wrong: names that are reserved or given twice, schemas
 * that are none, more bytes than the engine takes.
 */
export function defineCatalog<Workflows = Record<string, AnyWorkflow>>(workflows: WorkflowDescriptions<Workflows>): CatalogDefinition {
  const faults: string[] = []
  const described: [string, WorkflowDescription][] = Object.entries(workflows)
  const entries = described.map(([name, description]) => toEntry(name, description, faults))
  const workflowNames = toWorkflowNames(entries, faults)
  const catalog = { workflows: entries, workflowNames: Object.fromEntries(workflowNames) }
  const tooLarge = faults.length === 0 ? sizeFault(catalog) : null
  if (tooLarge !== null) faults.push(tooLarge)
  if (faults.length > 0) throw new TypeError(`This catalog can't be published:\n${faults.map((fault) => `- ${fault}`).join('\n')}`)
  return catalog
}

function toEntry(name: string, workflow: WorkflowDescription, faults: string[]): CatalogEntry {
  return {
    ...toHandlerEntry(name, workflow, name, faults),
    aliases: [...(workflow.aliases ?? [])],
    signals: toHandlerEntries(workflow.signals, `${name}.signals`, faults),
    queries: toHandlerEntries(workflow.queries, `${name}.queries`, faults),
    updates: toHandlerEntries(workflow.updates, `${name}.updates`, faults),
  }
}

function toHandlerEntries(handlers: WorkflowDescription['signals'], where: string, faults: string[]): HandlerEntry[] {
  return Object.entries(handlers ?? {}).map(([name, handler]) => {
    const fault = handlerNameFault(name) ?? objectNameFault(name)
    if (fault !== null) faults.push(`${where}: the name "${name}" ${fault}`)
    return toHandlerEntry(name, handler, `${where}.${name}`, faults)
  })
}

function toHandlerEntry(name: string, { description, input, output }: HandlerDescription, where: string, faults: string[]): HandlerEntry {
  return {
    name,
    description: description ?? null,
    inputSchema: input === undefined ? null : toJsonSchema(input, 'input', (fault) => faults.push(`${where}.input: ${fault}`)),
    outputSchema: output === undefined ? null : toJsonSchema(output, 'output', (fault) => faults.push(`${where}.output: ${fault}`)),
  }
}

/** Name or alias to canonical name. */
function toWorkflowNames(entries: CatalogEntry[], faults: string[]): Map<string, string> {
  const names = new Map<string, string>()
  for (const { name, aliases } of entries) {
    for (const [known, what] of [[name, name], ...aliases.map((alias) => [alias, `${name}.aliases`])] as [string, string][]) {
      const fault = workflowNameFault(known) ?? objectNameFault(known)
      if (fault !== null) faults.push(`${what}: the name "${known}" ${fault}`)
      const taken = names.get(known)
      if (taken !== undefined) faults.push(`${what}: "${known}" already names ${taken}`)
      else names.set(known, name)
    }
  }
  return names
}

// Workers look workflows and handlers up in plain objects, where these are always found.
function objectNameFault(name: string): string | null {
  return Object.hasOwn(Object.prototype, name) ? 'belongs to every JavaScript object' : null
}
