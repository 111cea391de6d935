import type { JsonSchema } from '../../protocol/catalog.ts'
import type { Call } from '../call.ts'
import type { Issue } from '../errors.ts'

/** The arguments of a workflow or of a handler. */
export interface Arguments {
  args: unknown[]
  /** JSON Pointer to the first argument in the request body, for issues. */
  argumentPointer: string
}

/**
 * Checks the first argument against the schema of `name`, and returns the issues.
 *
 * Parts of a schema that cannot be evaluated are ignored, because the worker checks again; a warning is logged once.
 */
export async function checkArgument(
  { args, argumentPointer }: Arguments,
  schema: JsonSchema,
  name: string,
  call: Call,
): Promise<Issue[]> {
  if (args.length === 0) return []
  // Loaded on first use, see decision 020.
  const { checkInput } = await import('./check-input.ts')
  const { issues, abortedBy, skipped } = checkInput(args[0], schema, argumentPointer)
  if (skipped.length > 0) call.warn(`The schema of ${name} cannot be checked in full`, { unusable: skipped })
  if (abortedBy !== null) call.note({ inputUnchecked: `${name}: ${abortedBy}` })
  return issues
}
