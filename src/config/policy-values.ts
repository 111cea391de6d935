/** Values that several parts of a policy have. */
import * as z from 'zod/mini'
import { isObject } from '../lib/is-object.ts'

export const name = z
  .string()
  .check(z.regex(/^[\w-]{1,64}$/, { error: 'must be 1 to 64 letters, digits, "_" and "-"' }))

export const nonEmpty = z.string().check(z.minLength(1, { error: 'must not be empty' }))

export function listOf<T extends z.core.$ZodType>(item: T) {
  return z.array(item).check(z.minLength(1, { error: 'must not be an empty array' }))
}

/** A value, or an array of values. */
export function oneOrMore<T extends z.core.$ZodType<string, string>>(item: T) {
  return z.pipe(
    z.union([item, listOf(item)]),
    z.transform((value): string[] => (Array.isArray(value) ? value : [value as string])),
  )
}

/** For a check of an object, which Zod would leave out if one of the values is wrong. */
export const always = { when: ({ value }: { value: unknown }) => isObject(value) }

/** Unlike those of Zod, these records have their values checked below a wrong name too. */
export function recordOf<T extends z.core.$ZodType>(name: z.core.$ZodType<string, string>, value: T) {
  return z.record(z.string(), value).check(
    z.check(({ value, issues }) => {
      for (const key of Object.keys(value)) {
        const [issue] = z.safeParse(name, key).error?.issues ?? []
        if (issue) issues.push({ code: 'custom', input: key, path: [key], message: `has a name that ${issue.message}` })
      }
    }, always),
  )
}
