import * as z from 'zod/mini'
import type { Arguments } from '../../../domain/model/workflows.ts'
import { optional } from './json-forms.ts'

/** The body fields with a handler's arguments: `payload` is a single argument, `args` a list. Both may be missing. */
export function argumentFields(descriptions: { payload: string; args: string }) {
  return {
    payload: optional(z.unknown(), descriptions.payload),
    args: optional(z.array(z.unknown()), descriptions.args),
  }
}

interface ArgumentFields {
  payload?: unknown
  args?: unknown[]
}

export const payloadOrArgs = z.refine<ArgumentFields>(
  (body) => !('payload' in body && 'args' in body),
  'must not contain both payload and args',
)

/** `payloadOrArgs` for JSON Schema. */
export const NOT_BOTH_ARGUMENTS = { required: ['payload', 'args'] }

export function toArguments({ args = [], ...body }: ArgumentFields): Arguments {
  if ('payload' in body) return { args: [body.payload], argumentPointer: '/payload' }
  return { args, argumentPointer: args.length === 0 ? '/payload' : '/args/0' }
}
