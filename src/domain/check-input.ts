import type { JsonSchema } from '../protocol/catalog.ts'
import type { Issue } from './errors.ts'
import { compileSchema } from './json-schema/compile.ts'
import { type Check, createWork, type Place, type Refusal, SchemaFault, toIssue } from './json-schema/run.ts'

// In units of some 50 ns, so a tenth of a second: an honest input of 1 MiB takes half of it. benchmarks/README.md has the figures.
const MAX_WORK = 2_000_000

// A schema is an object of its definition, which is kept for as long as it counts: so is what was made of it.
const compiled = new WeakMap<object, Check | SchemaFault>()

/** What of `input`, which stands at `pointer` in the request, the schema refuses. Throws when the schema can't be used: it is broken, or asks for more work than an answer may wait for. */
export function checkInput(input: unknown, schema: JsonSchema, pointer = '/input'): Issue[] {
  const check = compileOnce(schema)
  const refusals: Refusal[] = []
  try {
    check(input, toPlace(pointer), { work: createWork(MAX_WORK), refusals, depth: 0 }, null)
  } catch (error) {
    // What has been found by then is reason enough.
    if (refusals.length === 0) throw error
  }
  return refusals.map(toIssue)
}

function toPlace(pointer: string): Place {
  const [key = '', ...rest] = pointer.slice(1).split('/')
  return rest.reduce((parent: Place, key) => ({ parent, key }), { parent: null, key })
}

function compileOnce(schema: JsonSchema): Check {
  if (typeof schema === 'boolean') return compileSchema(schema, createWork(MAX_WORK))
  const made = compiled.get(schema) ?? compile(schema)
  compiled.set(schema, made)
  if (made instanceof Error) throw made
  return made
}

/** What can't be used once can't be used the next time either. */
function compile(schema: JsonSchema): Check | SchemaFault {
  try {
    return compileSchema(schema, createWork(MAX_WORK))
  } catch (error) {
    return error instanceof SchemaFault ? error : new SchemaFault(`it can't be read (${error})`, { cause: error })
  }
}
