import { lazy } from '../../shared/lib/lazy.ts'
import type { HandlerEntry, JsonSchema } from '../../shared/wire/catalog.ts'
import type { Call } from '../model/call.ts'
import type { Arguments } from '../model/commands.ts'
import type { Issue } from '../model/errors.ts'
import { isRawPayload } from '../model/raw-payload.ts'

// Loaded on first use: docs/decisions/020-what-is-loaded-when.md.
const inputCheck = lazy(
  () => import('./check-input.ts'),
  ({ checkInput }) => checkInput,
)

/**
 * Checks the first argument against what the catalog publishes for `name`, and returns the issues.
 *
 * Parts of a schema that cannot be evaluated are ignored, because the worker checks again; a warning is logged once.
 */
export async function checkArgument(
  { args, argumentPointer }: Arguments,
  { inputSchema, inputOptional }: Pick<HandlerEntry, 'inputOptional' | 'inputSchema'>,
  name: string,
  call: Call,
): Promise<Issue[]> {
  if (inputSchema === null || isRawPayload(args[0])) return []
  if (args.length === 0) return inputOptional === false ? [{ path: argumentPointer, message: 'is required' }] : []
  const { issues, abortedBy } = await checkValue(args[0], argumentPointer, inputSchema, name, call)
  if (abortedBy !== null) call.note({ inputUnchecked: `${name}: ${abortedBy}` })
  return issues
}

/** The same for any value. `abortedBy` says why the check ended without a result; null otherwise. */
export async function checkValue(
  value: unknown,
  pointer: string,
  schema: JsonSchema,
  name: string,
  call: Call,
): Promise<{ issues: Issue[]; abortedBy: string | null }> {
  const checkInput = inputCheck.current ?? (await inputCheck.get())
  const { issues, abortedBy, skipped } = checkInput(value, schema, pointer)
  if (skipped.length > 0) call.warn(`The schema of ${name} cannot be checked in full`, { unusable: skipped })
  return { issues, abortedBy }
}
