/** What a catalog says of workflows, and which of it TypeScript compares with the workflows themselves. */
import type { QueryDefinition, SignalDefinition } from '@temporalio/workflow'
import type { InputSchema, OutputSchema } from './json-schema.ts'

/** What a catalog says of one workflow; the workflow itself stays as it is. */
export interface WorkflowDescription<Input = unknown, Output = unknown, Handlers extends AnyHandlers = AnyHandlers> {
  /** For people. */
  description?: string
  /** Further names it can be started by. */
  aliases?: readonly string[]
  /** Of its first argument: what does not fit is refused before anything is started. */
  input?: InputSchema<Input>
  /** Of what it returns; told, not checked. */
  output?: OutputSchema<Output>
  /** By name, as its workflow has set handlers for them. */
  signals?: Handlers['signals']
  /** By name, as its workflow has set handlers for them. */
  queries?: Handlers['queries']
  /** By name, as its workflow has set handlers for them. */
  updates?: Handlers['updates']
}

/** What a catalog says of a signal, query or update. */
export interface HandlerDescription<Input = unknown, Output = unknown> {
  /** For people. */
  description?: string
  /** Of its first argument. */
  input?: InputSchema<Input>
  /** Of what it returns; signals return nothing. */
  output?: OutputSchema<Output>
}

interface AnyHandlers {
  readonly signals: object
  readonly queries: object
  readonly updates: object
}

interface UncheckedHandlers {
  readonly signals: Readonly<Record<string, HandlerDescription>>
  readonly queries: Readonly<Record<string, HandlerDescription>>
  readonly updates: Readonly<Record<string, HandlerDescription>>
}

export type AnyWorkflow = (...args: never[]) => Promise<unknown>

/** Of each workflow that the module exports; handlers as the module's exported definitions have them. */
export type WorkflowDescriptions<Workflows> = {
  readonly [Name in WorkflowNames<Workflows>]?: Workflows[Name] extends (...args: infer Args) => Promise<infer Returned>
    ? WorkflowDescription<First<Args>, Answer<Returned>, HandlersOf<Workflows>>
    : never
}

type WorkflowNames<Workflows> = {
  [Name in keyof Workflows]: Workflows[Name] extends AnyWorkflow ? Name : never
}[keyof Workflows]

// Whatever can be called with anything takes any schema.
type First<Args extends unknown[]> = Args extends [] ? unknown : never[] extends Args ? unknown : Args[0]

// JSON has no undefined: what returns nothing answers null.
type Answer<Returned> = Returned extends void ? null : Returned

/** Unchecked where the module exports no definitions: its handlers are then defined inside the workflows. */
type HandlersOf<Workflows> = [Definition<Workflows[keyof Workflows]>] extends [never]
  ? UncheckedHandlers
  : {
      readonly signals: OfKind<Workflows, 'Signal'>
      readonly queries: OfKind<Workflows, 'Query'>
      readonly updates: OfKind<Workflows, 'Update'>
    }

type Kind = 'Signal' | 'Query' | 'Update'

type OfKind<Workflows, K extends Kind> = [Definition<Workflows[keyof Workflows], K>] extends [never]
  ? Readonly<Record<string, `the workflows module exports no define${K}`>>
  : {
      readonly [Key in keyof Workflows as NameOf<Workflows[Key], Key, K>]?: Definition<Workflows[Key], K>['description']
    }

/** The name in the definition's type; `defineSignal<[Args]>('name')` has none there, so the name of the export counts. */
type NameOf<Exported, Key, K extends Kind> = [Definition<Exported, K>] extends [never]
  ? never
  : string extends Definition<Exported, K>['name']
    ? (Key & string) | (Key extends `${infer Stem}${K}` ? Stem : never)
    : Definition<Exported, K>['name']

/** Never for an export that is not a definition of this kind. */
type Definition<Exported, K extends Kind = Kind> = unknown extends Exported
  ? never
  : Exported extends { type: Lowercase<K>; name: infer Name extends string } & Record<
        ArgsBrand,
        infer Args extends unknown[]
      >
    ? { name: Name; description: HandlerDescription<First<Args>, ReturnedBy<Exported>> }
    : never

type ReturnedBy<Exported> = Exported extends Record<ReturnBrand, infer Returned> ? Answer<Returned> : null

// The SDK keeps these symbols to itself, and the type of update definitions too.
type ArgsBrand = keyof SignalDefinition & symbol
type ReturnBrand = Exclude<keyof QueryDefinition<unknown> & symbol, ArgsBrand>
