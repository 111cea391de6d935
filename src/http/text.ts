import * as z from 'zod/mini'

/** A string in which `faultOf` finds nothing. */
export function textWithout(faultOf: (text: string) => string | null) {
  return z.string().check(
    z.superRefine((text, context) => {
      const fault = faultOf(text)
      if (fault !== null) context.addIssue(fault)
    }),
  )
}
