/** Values of query parameters, which are always strings. */
import * as z from 'zod/mini'

export function integer(min: number, max: number) {
  return z.pipe(
    z.string().check(
      z.refine((text: string) => /^\d{1,15}$/.test(text) && Number(text) >= min && Number(text) <= max, {
        message: `must be an integer from ${min} to ${max}`,
      }),
    ),
    z.transform(Number),
  )
}
