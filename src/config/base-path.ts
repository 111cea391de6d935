/** The path below which all routes are. */
import { type Parse, satisfying } from './variables.ts'

export const BASE_PATH_RULE = 'must be a path like /portico or /apis/portico, of letters, digits, ".", "_", "~" and "-"'

/** Without a slash at its end; empty for `/`. Null for what is not a path, or needs percent-encoding. */
export function toBasePath(value: string): string | null {
  const path = value.replace(/\/$/, '')
  return /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)*$/.test(path) ? path : null
}

export const basePath: Parse<string> = satisfying(toBasePath, BASE_PATH_RULE)
