/** What a catalog says of workflows, and which of it TypeScript compares with the workflows themselves. */
import type { InputSchema, OutputSchema } from '../json-schema.ts'

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

/** Of each workflow that the module exports. */
export type WorkflowDescriptions<Workflows> = {
  readonly [Name in WorkflowNames<Workflows>]?: Workflows[Name] extends (...args: infer Args) => Promise<infer Returned>
    ? WorkflowDescription<First<Args>, Answer<Returned>, UncheckedHandlers>
    : never
}

type WorkflowNames<Workflows> = { [Name in keyof Workflows]: Workflows[Name] extends AnyWorkflow ? Name : never }[keyof Workflows]

// Whatever can be called with anything takes any schema.
type First<Args extends unknown[]> = Args extends [] ? unknown : never[] extends Args ? unknown : Args[0]

// JSON has no undefined: what returns nothing answers null.
type Answer<Returned> = Returned extends void ? null : Returned
