import { type CompiledSchema, compileSchema, type JsonSchema } from '../../json-schema/compile.ts'
import { Circle, createWork, type Place, type Refusal, toIssue } from '../../json-schema/run.ts'
import type { Issue } from '../errors.ts'

export interface Verdict {
  /** What the schema refuses. */
  issues: Issue[]
  /** Why this input was not checked to its end; null when it was. */
  unchecked: string | null
  /** The parts of the schema that are skipped because they can't be evaluated. Listed once for each schema. */
  unusable: string[]
}

// In units of some 50 ns, so a tenth of a second: an honest input of 1 MiB takes half of it. benchmarks/README.md has the figures.
const MAX_WORK = 2_000_000

// A schema is an object of its definition, which is kept for as long as it counts: so is what was made of it.
const compiled = new WeakMap<object, CompiledSchema>()

/** Checks `input`, which stands at `pointer` in the request, for no longer than an answer may wait. */
export function checkInput(input: unknown, schema: JsonSchema, pointer = '/input'): Verdict {
  const known = typeof schema === 'boolean' ? undefined : compiled.get(schema)
  const { check, skipped } = known ?? compile(schema)
  const unusable = known === undefined ? skipped : []
  const refusals: Refusal[] = []
  let unchecked: string | null = null
  try {
    check(input, toPlace(pointer), { work: createWork(MAX_WORK), refusals, depth: 0 }, null)
  } catch (error) {
    if (error instanceof Circle) return { issues: [], unchecked, unusable: keep(schema, nothing(error)).skipped }
    // What has been found by then is reason enough.
    if (refusals.length === 0) unchecked = messageOf(error)
  }
  return { issues: refusals.map(toIssue), unchecked, unusable }
}

function toPlace(pointer: string): Place {
  const [key = '', ...rest] = pointer.slice(1).split('/')
  return rest.reduce((parent: Place, key) => ({ parent, key }), { parent: null, key })
}

function compile(schema: JsonSchema): CompiledSchema {
  try {
    return keep(schema, compileSchema(schema, createWork(MAX_WORK)))
  } catch (error) {
    return keep(schema, nothing(error))
  }
}

/** A schema that fails once fails always: it is kept as one that refuses nothing. */
function nothing(error: unknown): CompiledSchema {
  return { check: () => true, skipped: [messageOf(error)], broken: [] }
}

function keep(schema: JsonSchema, made: CompiledSchema): CompiledSchema {
  if (typeof schema !== 'boolean') compiled.set(schema, made)
  return made
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
