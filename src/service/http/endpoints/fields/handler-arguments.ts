import * as z from 'zod/mini'
import type { Arguments } from '../../../model/commands.ts'
import { type Alternatives, atMostOneOf, pairsOf } from './field-values.ts'
import { optional } from './json-forms.ts'
import { rawPayloads } from './raw-payloads.ts'

/** The body fields with a handler's arguments: `payload` is a single argument, `args` a list. All may be missing. */
export function argumentFields(descriptions: { payload: string; args: string }) {
  return {
    payload: optional(z.unknown(), descriptions.payload),
    args: optional(z.array(z.unknown()), descriptions.args),
    payloads: rawPayloads('`payload` and `args`'),
  }
}

interface ArgumentFields {
  payload?: unknown
  args?: unknown[]
  payloads?: unknown[]
}

const KEYS: Alternatives = ['payload', 'args', 'payloads']

export const onlyOneArgumentField = atMostOneOf(KEYS, 'must contain only one of payload, args and payloads')

/** `onlyOneArgumentField` for JSON Schema. */
export const ARGUMENT_CONFLICTS = pairsOf(KEYS)

export function toArguments({ args = [], payloads = [], ...body }: ArgumentFields): Arguments {
  if ('payload' in body) return { args: [body.payload], argumentPointer: '/payload' }
  const list = payloads.length === 0 ? args : payloads
  return { args: list, argumentPointer: list.length === 0 ? '/payload' : '/args/0' }
}
