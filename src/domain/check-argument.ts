import type { JsonSchema } from '../protocol/catalog.ts'
import type { Call } from './call.ts'
import type { Issue } from './errors.ts'

/** The arguments of a workflow or of one of its handlers. */
export interface Arguments {
  args: unknown[]
  /** JSON Pointer of the first argument in the request, for issues. */
  argumentPointer: string
}

/**
 * What `schema`, published for `name`, refuses of the first argument; nothing where there is none.
 *
 * What can't be used of a schema refuses nothing: the worker that published it checks for itself. It is warned of once.
 */
export async function checkArgument({ args, argumentPointer }: Arguments, schema: JsonSchema, name: string, call: Call): Promise<Issue[]> {
  if (args.length === 0) return []
  // Loaded when it is needed: it is a third of what the service has to read before it listens.
  const { checkInput } = await import('./check-input.ts')
  const { issues, unchecked, unusable } = checkInput(args[0], schema, argumentPointer)
  if (unusable.length > 0) call.warn(`The schema of ${name} cannot be checked in full`, { unusable })
  if (unchecked !== null) call.note({ inputUnchecked: `${name}: ${unchecked}` })
  return issues
}
