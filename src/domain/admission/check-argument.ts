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
  const { issues, unchecked, unusable } = checkInput(args[0], schema, argumentPointer)
  if (unusable.length > 0) call.warn(`The schema of ${name} cannot be checked in full`, { unusable })
  if (unchecked !== null) call.note({ inputUnchecked: `${name}: ${unchecked}` })
  return issues
}
