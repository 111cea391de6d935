import * as z from 'zod/mini'

/** What a body that is for a handler has: `payload` is one argument, `args` are several, neither is none. */
export const argumentFields = { payload: z.exactOptional(z.unknown()), args: z.exactOptional(z.array(z.unknown())) }

interface Arguments {
  payload?: unknown
  args?: unknown[]
}

export const notBoth = z.refine<Arguments>((body) => !('payload' in body && 'args' in body), 'must not have both payload and args')

export function toArguments(body: Arguments): unknown[] {
  return 'payload' in body ? [body.payload] : (body.args ?? [])
}
