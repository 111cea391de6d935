/** The types that all keywords share. */
import type { Budget } from './budget.ts'

/** Whether `value` is valid. Reports what is invalid to `context`. */
export type Check = (value: unknown, at: Location, context: Context, evaluated: Evaluated | null) => boolean

/** Where a value is: its key in its parent. The JSON Pointer is built only for what is reported. */
export interface Location {
  parent: Location | null
  key: string | number
}

/** One validation of one value. */
export interface Context {
  budget: Budget
  violations: Violation[]
  /** How many schemas are being applied, one inside the other. */
  depth: number
}

export interface Violation {
  at: Location
  message: string
}

/** What the keywords have evaluated in one object or array: input of `unevaluatedProperties` and `unevaluatedItems`. */
export interface Evaluated {
  /** A skipped keyword might have evaluated anything. */
  all: boolean
  keys: Set<string>
  items: Set<number>
}

/** Compiles the subschemas of a keyword. */
export interface Compiler {
  /**
   * Whether no keyword may be skipped: below `not`, for example, a subschema that accepts more makes the schema around
   * it accept less.
   */
  exact: boolean
  compile(schema: unknown): Check
  /** Throws a `SchemaError` where a keyword would have to be skipped. */
  compileExact(schema: unknown): Check
  /** The subschema that a `$ref` in `from` refers to. */
  resolve(reference: string, from: object): unknown
  budget: Budget
}

/** Compiles a keyword of `schema` with this `value`. Throws a `SchemaError` for what cannot be evaluated. */
export type CompileKeyword = (value: unknown, schema: Record<string, unknown>, compiler: Compiler) => Check
