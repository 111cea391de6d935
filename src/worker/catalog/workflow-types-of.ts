import type { Definition, DefinitionKind, NameOf, WorkflowNames } from './workflow-description.ts'

/**
 * The types of a workflows module, for the client in `portico/client`:
 * `createClient<WorkflowTypesOf<typeof workflows>>()`, with `import type * as workflows from './workflows.ts'`.
 *
 * Every workflow has all signals, queries and updates that the module exports, by the names that `defineCatalog` knows.
 * A module that exports none of a kind has any of them, without types.
 */
export type WorkflowTypesOf<Workflows> = {
  [Name in WorkflowNames<Workflows>]: Workflows[Name] extends (...args: infer Args) => Promise<infer Returned>
    ? {
        args: Args
        output: Returned
        signals: OfKind<Workflows, 'Signal'>
        queries: OfKind<Workflows, 'Query'>
        updates: OfKind<Workflows, 'Update'>
      }
    : never
}

type OfKind<Workflows, K extends DefinitionKind> = [Definition<Workflows[keyof Workflows], K>] extends [never]
  ? Record<string, unknown[]>
  : {
      [Key in keyof Workflows as NameOf<Workflows[Key], Key, K>]: Pick<Definition<Workflows[Key], K>, 'args' | 'result'>
    }
