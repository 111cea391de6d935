/** The header `Prefer`: https://www.rfc-editor.org/rfc/rfc7240 */
import type { Context } from 'hono'
import type { Env } from './context.ts'
import { setHeader } from './response.ts'

export interface AsyncPreference {
  /** How long to wait for the result before the 202; 0: do not wait. */
  waitMs: number
}

/**
 * Null unless the client prefers `respond-async`. Unknown and malformed preferences are ignored, as the RFC demands.
 */
export function asyncPreference(c: Context): AsyncPreference | null {
  const preferences = parse(c.req.header('Prefer') ?? '')
  if (!preferences.has('respond-async')) return null
  const wait = preferences.get('wait') ?? ''
  return { waitMs: /^\d{1,9}$/.test(wait) ? Number(wait) * 1000 : 0 }
}

/** Adds `Preference-Applied`. It contains `wait` only in whole seconds: any other time comes from another limit. */
export function preferenceApplied(c: Context<Env>, { waitMs }: AsyncPreference): void {
  const waitSeconds = waitMs / 1000
  const wait = waitSeconds > 0 && Number.isInteger(waitSeconds) ? `, wait=${waitSeconds}` : ''
  setHeader(c, 'Preference-Applied', `respond-async${wait}`)
}

/** Preferences by their names in lower case. Of two with the same name the first one counts. */
function parse(header: string): Map<string, string> {
  // Commas inside quoted strings are not separators.
  const elements = header.match(/(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g) ?? []
  const pairs = elements.flatMap((element): [string, string][] => {
    const [, name, value = ''] = /^\s*([^\s=;]+)(?:\s*=\s*"?([^\s";]*))?/.exec(element) ?? []
    return name === undefined ? [] : [[name.toLowerCase(), value]]
  })
  return new Map(pairs.reverse())
}
