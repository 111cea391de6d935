import * as z from 'zod'

/** A string in which `faultOf` finds nothing. */
export function textWithout(faultOf: (text: string) => string | null) {
  return z.string().superRefine((text, context) => {
    const fault = faultOf(text)
    if (fault !== null) context.addIssue(fault)
  })
}
