import type { JsonSchema } from '../../protocol/catalog.ts'
import type { Call } from '../call.ts'
import type { Issue } from '../errors.ts'

/** The arguments of a workflow or of one of its handlers. */
export interface Arguments {
  args: unknown[]
  /** JSON Pointer of the first argument in the request, for issues. */
  argumentPointer: string
}

/**
 * The issues of the first argument with `schema`, which is published for `name`; none without arguments.
 *
 * Parts of a schema that can't be evaluated refuse nothing, as the worker checks again. The log warns of them once.
 */
export async function checkArgument(
  { args, argumentPointer }: Arguments,
  schema: JsonSchema,
  name: string,
  call: Call,
): Promise<Issue[]> {
  if (args.length === 0) return []
  // Loaded when it is needed: it is a third of what the service has to read before it listens.
  const { checkInput } = await import('./check-input.ts')
  const { issues, abortedBy, skipped } = checkInput(args[0], schema, argumentPointer)
  if (skipped.length > 0) call.warn(`The schema of ${name} cannot be checked in full`, { unusable: skipped })
  if (abortedBy !== null) call.note({ inputUnchecked: `${name}: ${abortedBy}` })
  return issues
}
