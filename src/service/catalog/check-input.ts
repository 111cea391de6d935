import { createBudget } from '../../shared/json-schema/check.ts'
import { type CompiledSchema, compileSchema, type JsonSchema, validateValue } from '../../shared/json-schema/compile.ts'
import { CircularReferenceError } from '../../shared/json-schema/errors.ts'
import { errorMessage } from '../../shared/lib/error-message.ts'
import type { Issue } from '../model/errors.ts'

export interface InputCheck {
  issues: Issue[]
  /** Why the check ended without a result; null otherwise. */
  abortedBy: string | null
  /** The parts of the schema that are skipped because they cannot be evaluated. Listed once for each schema. */
  skipped: string[]
}

// In units of about 50 ns, which makes a tenth of a second. A valid input of 1 MiB takes half of it:
// src/shared/json-schema/README.md.
const BUDGET = 2_000_000

// Keyed by the schema in its catalog's cached definition: both are dropped together.
const compiled = new WeakMap<object, CompiledSchema>()

/** Checks `input`, which stands at `pointer` in the request, in bounded time. */
export function checkInput(input: unknown, schema: JsonSchema, pointer = '/input'): InputCheck {
  const known = typeof schema === 'boolean' ? undefined : compiled.get(schema)
  const current = known ?? compile(schema)
  try {
    const { issues, abortedBy } = validateValue(current, input, createBudget(BUDGET), pointer)
    return {
      issues,
      abortedBy: abortedBy === null ? null : errorMessage(abortedBy),
      skipped: known === undefined ? current.skipped : [],
    }
  } catch (error) {
    if (!(error instanceof CircularReferenceError)) throw error
    return { issues: [], abortedBy: null, skipped: keep(schema, acceptAll(error)).skipped }
  }
}

function compile(schema: JsonSchema): CompiledSchema {
  try {
    return keep(schema, compileSchema(schema, createBudget(BUDGET)))
  } catch (error) {
    return keep(schema, acceptAll(error))
  }
}

/** Replaces a schema that cannot be used: the reason is logged once. */
function acceptAll(error: unknown): CompiledSchema {
  return { check: () => true, skipped: [errorMessage(error)], invalid: [] }
}

function keep(schema: JsonSchema, made: CompiledSchema): CompiledSchema {
  if (typeof schema !== 'boolean') compiled.set(schema, made)
  return made
}
