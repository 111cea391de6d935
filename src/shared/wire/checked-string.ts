import * as z from 'zod/mini'

/** A zod schema for a string that `check` accepts. `check` returns what is wrong with it, or null. */
export function checkedString(check: (value: string) => string | null) {
  return z.string().check(
    z.superRefine((value, context) => {
      const issue = check(value)
      if (issue !== null) context.addIssue(issue)
    }),
  )
}
