import * as z from 'zod/mini'

/** The path that every route begins with: without a slash at its end, and empty for `/`. */
export const basePath = z.string().check(
  z.overwrite((path) => path.replace(/\/$/, '')),
  z.regex(/^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)*$/, {
    error: 'must be a path like /portico or /apis/portico, of letters, digits, ".", "_", "~" and "-"',
  }),
)
