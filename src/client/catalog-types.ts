/**
 * The types of workflows that a client knows.
 *
 * An interface like this one, for `createClient<Workflows>()`, is generated from a catalog by `npx portico types`, or
 * derived from a workflows module by `WorkflowTypesOf<typeof workflows>` of `portico/worker`:
 *
 * ```ts
 * export interface Workflows {
 *   'order': {
 *     args: [input: Order, ...more: unknown[]]
 *     output: Receipt
 *     signals: { 'approve': [input: Approval, ...more: unknown[]] }
 *     queries: { 'progress': { args: unknown[]; result: Progress } }
 *     updates: { 'priority': { args: [input: NewPriority, ...more: unknown[]]; result: Change } }
 *   }
 * }
 * ```
 *
 * `Activities`, for activities without a workflow, has `args` and `output` alone; a module of activities will do too.
 *
 * A catalog describes only the first argument.
 * An argument without a schema is `unknown[]`, a result without one `unknown`.
 */

/** The types of one workflow. Without `signals`, `queries` or `updates` it has none of them. */
export interface WorkflowTypes {
  args: readonly unknown[]
  output: unknown
  /** Arguments by name, or `{ args }`. */
  signals?: object
  /** `{ args, result }` by name. */
  queries?: object
  /** `{ args, result }` by name. */
  updates?: object
}

/** A workflow function of Temporal's TypeScript SDK. */
export type WorkflowFunction = (...args: never[]) => Promise<unknown>

/** A workflow without known types: any arguments, any handlers. */
export interface AnyWorkflow {
  args: unknown[]
  output: unknown
  signals: Record<string, unknown[]>
  queries: Record<string, AnyHandler>
  updates: Record<string, AnyHandler>
}

interface AnyHandler {
  args: unknown[]
  result: unknown
}

/** The workflows of a client without types. */
export type AnyWorkflows = Record<string, AnyWorkflow>

/** The activities of a client without types. */
export type AnyActivities = Record<string, Pick<AnyWorkflow, 'args' | 'output'>>

/** The names of the workflows or activities in an interface, or of the functions of a module. */
export type WorkflowName<Workflows> = {
  [Name in keyof Workflows]: Workflows[Name] extends WorkflowFunction | WorkflowTypes ? Name : never
}[keyof Workflows] &
  string

/** The complete types of a workflow, from an entry of a catalog's interface or from the function itself. */
export type TypesOf<Workflow> = Workflow extends (...args: infer Args) => Promise<infer Returned>
  ? Omit<AnyWorkflow, 'args' | 'output'> & { args: Args; output: AsJson<Returned> }
  : Workflow extends WorkflowTypes
    ? {
        args: Workflow['args']
        output: AsJson<Workflow['output']>
        signals: Handlers<Workflow, 'signals'>
        queries: Handlers<Workflow, 'queries'>
        updates: Handlers<Workflow, 'updates'>
      }
    : never

type Handlers<Workflow, Kind extends string> = Workflow extends Record<Kind, infer Named> ? Named : Record<never, never>

/** The arguments of a handler. Those of a signal may be the type itself. */
export type ArgsOf<Handler> = Handler extends readonly unknown[]
  ? Handler
  : Handler extends { args: infer Args extends readonly unknown[] }
    ? Args
    : unknown[]

export type ResultOf<Handler> = Handler extends { result: infer Result } ? AsJson<Result> : unknown

/** A value as JSON carries it: a `Date` is a string, `undefined` is `null`. */
export type AsJson<Value> = 0 extends 1 & Value
  ? Value
  : Value extends string | number | boolean | bigint | null
    ? Value
    : Value extends void
      ? null
      : Value extends { toJSON(): infer Json }
        ? Json
        : Value extends object
          ? { [Key in keyof Value]: AsJsonField<Value[Key]> }
          : Value

// A property that is undefined is left out.
type AsJsonField<Value> = Value extends undefined ? Value : AsJson<Value>
