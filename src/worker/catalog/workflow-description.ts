/** The argument of `defineCatalog`, typed by the workflows module that it describes. */
import type { QueryDefinition, SignalDefinition } from '@temporalio/workflow'
import type { InputSchema, OutputSchema } from './schemas/json-schema.ts'

/** Describes one workflow in a catalog. */
export interface WorkflowDescription<Input = unknown, Output = unknown, Handlers extends AnyHandlers = AnyHandlers> {
  /** Shown in the API's catalog. */
  description?: string
  /** Additional names under which the workflow can be started. */
  aliases?: readonly string[]
  /** Schema of the first argument. The API rejects a start whose input does not match. */
  input?: InputSchema<Input>
  /**
   * Whether a start needs no input. Default: whether the schema accepts `undefined`, as one of zod does with
   * `.optional()` or `.default()`. If false, the API rejects a start without input.
   */
  inputOptional?: boolean
  /** Schema of the return value. Shown in the API's catalog; results are not checked against it. */
  output?: OutputSchema<Output>
  /** Signals that the workflow handles, by name. */
  signals?: Handlers['signals']
  /** Queries that the workflow handles, by name. */
  queries?: Handlers['queries']
  /** Updates that the workflow handles, by name. */
  updates?: Handlers['updates']
}

/** Describes a signal, query or update in a catalog. */
export interface HandlerDescription<Input = unknown, Output = unknown> {
  /** Shown in the API's catalog. */
  description?: string
  /** Schema of the first argument. The API rejects a message whose argument does not match. */
  input?: InputSchema<Input>
  /** Whether a message needs no argument. Default: whether the schema accepts `undefined`. */
  inputOptional?: boolean
  /** Schema of the return value; signals return nothing. Results are not checked against it. */
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

export type WorkflowImplementation = (...args: never[]) => Promise<unknown>

/** A description for each exported workflow. The module's exported definitions determine the types of handlers. */
export type WorkflowDescriptions<Workflows> = {
  readonly [Name in WorkflowNames<Workflows>]?: Workflows[Name] extends (...args: infer Args) => Promise<infer Returned>
    ? WorkflowDescription<First<Args>, JsonResult<Returned>, HandlersOf<Workflows>> & InputOptionalFor<Args>
    : never
}

export type WorkflowNames<Workflows> = {
  [Name in keyof Workflows]: Workflows[Name] extends WorkflowImplementation ? Name : never
}[keyof Workflows]

// A workflow that accepts any arguments can have any input schema.
type First<Args extends unknown[]> = Args extends [] ? unknown : never[] extends Args ? unknown : Args[0]

/**
 * Whether the description must have `inputOptional`. The compiler cannot see whether a schema accepts `undefined`, so
 * it requires the property where the function does.
 */
type InputOptionalFor<Args extends unknown[]> = never[] extends Args
  ? unknown
  : [] extends Args
    ? NeedsInputOptional
    : unknown extends Args[0]
      ? unknown
      : undefined extends Args[0]
        ? NeedsInputOptional
        : { readonly inputOptional?: false }

type NeedsInputOptional = { readonly input?: false | undefined } | { readonly inputOptional: boolean }

// JSON has no undefined: a workflow that returns nothing has the result null.
type JsonResult<Returned> = Returned extends void ? null : Returned

/** If the module exports no definitions, handlers are defined inside the workflow functions: any are allowed. */
type HandlersOf<Workflows> = [Definition<Workflows[keyof Workflows]>] extends [never]
  ? UncheckedHandlers
  : {
      readonly signals: OfKind<Workflows, 'Signal'>
      readonly queries: OfKind<Workflows, 'Query'>
      readonly updates: OfKind<Workflows, 'Update'>
    }

export type DefinitionKind = 'Signal' | 'Query' | 'Update'

type OfKind<Workflows, K extends DefinitionKind> = [Definition<Workflows[keyof Workflows], K>] extends [never]
  ? Readonly<Record<string, `the workflows module exports no define${K}`>>
  : {
      readonly [Key in keyof Workflows as NameOf<Workflows[Key], Key, K>]?: Definition<Workflows[Key], K>['description']
    }

/** The name in the definition's type, or the export's name: the type of `defineSignal<[Args]>('name')` has no name. */
export type NameOf<Exported, Key, K extends DefinitionKind> = [Definition<Exported, K>] extends [never]
  ? never
  : string extends Definition<Exported, K>['name']
    ? (Key & string) | (Key extends `${infer Stem}${K}` ? Stem : never)
    : Definition<Exported, K>['name']

/** `never` for an export that is not a definition of this kind. */
export type Definition<Exported, K extends DefinitionKind = DefinitionKind> = unknown extends Exported
  ? never
  : Exported extends { type: Lowercase<K>; name: infer Name extends string } & Record<
        ArgsBrand,
        infer Args extends unknown[]
      >
    ? {
        name: Name
        args: Args
        result: ReturnedBy<Exported>
        description: HandlerDescription<First<Args>, ReturnedBy<Exported>> & InputOptionalFor<Args>
      }
    : never

type ReturnedBy<Exported> = Exported extends Record<ReturnBrand, infer Returned> ? JsonResult<Returned> : null

// The SDK does not export these symbols, nor the type of update definitions.
type ArgsBrand = keyof SignalDefinition & symbol
type ReturnBrand = Exclude<keyof QueryDefinition<unknown> & symbol, ArgsBrand>
