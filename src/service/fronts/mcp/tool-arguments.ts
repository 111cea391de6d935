/** The arguments of a call, as those of the workflow. */

import { toPointer } from '../../../shared/lib/json.ts'
import type { Arguments } from '../../model/commands.ts'
import { invalidValue } from '../../model/errors.ts'
import type { WorkflowTool } from './tools.ts'

/** Throws `ValidationError`. Issues have paths in the arguments of the tool. */
export function workflowArguments(
  { form, isOptional }: Pick<WorkflowTool, 'form' | 'isOptional'>,
  given: Readonly<Record<string, unknown>> | undefined,
): Arguments {
  const values = given ?? {}
  if (form === 'flat') return { args: given === undefined && isOptional ? [] : [values], argumentPointer: '' }
  const allowed = FIELDS[form]
  const unknown = Object.keys(values).find((key) => !allowed.includes(key))
  if (unknown !== undefined) throw invalidValue(toPointer([unknown.slice(0, 200)]), 'is not a known field')
  const { input, args = [] } = values
  if (!Array.isArray(args)) throw invalidValue('/args', 'must be an array')
  if (args.length === 0) return { args: input === undefined ? [] : [input], argumentPointer: '/input' }
  if (input !== undefined) throw invalidValue('/args', 'must be absent or empty if there is an input')
  return { args, argumentPointer: '/args/0' }
}

const FIELDS: Record<Exclude<WorkflowTool['form'], 'flat'>, readonly string[]> = {
  wrapped: ['input'],
  open: ['input', 'args'],
  none: [],
}
