/** Where the service is, and how to call it: from flags, then from variables, then from the nearest `.portico.json`. */
import * as z from 'zod/mini'
import { anyString, baseUrl, bearerToken } from '../config/variables.ts'
import { UsageError } from './failures.ts'
import { readSettingsFile, SETTINGS, type Setting } from './settings-file.ts'

export interface Settings {
  url: string
  token: string | null
  /** Null: the service's own. */
  catalog: string | null
}

/** Settings as a source names them. */
export type GivenSettings = Partial<Record<Setting, unknown>>

/** Where the service listens by default. */
export const DEFAULT_URL = 'http://127.0.0.1:3001'

const nonEmpty = (error: string) => anyString.check(z.minLength(1, { error }))

/**
 * A value that a source may give, and the variable of the same meaning.
 * Errors continue a sentence that begins with the name.
 */
const RULES = {
  url: { variable: 'PORTICO_URL', schema: baseUrl },
  token: { variable: 'PORTICO_TOKEN', schema: bearerToken },
  catalog: { variable: 'PORTICO_CATALOG', schema: nonEmpty('must not be empty') },
} as const

interface Source {
  /** How messages name a setting of it. */
  nameOf(setting: Setting): string
  given: GivenSettings
}

/** Throws a `UsageError` that lists every mistake of all sources. Values are never shown: one may be a secret. */
export async function readSettings(flags: GivenSettings, env: NodeJS.ProcessEnv, directory: string): Promise<Settings> {
  const file = await readSettingsFile(directory)
  const sources: Source[] = [
    { nameOf: (setting) => `--${setting}`, given: flags },
    { nameOf: (setting) => RULES[setting].variable, given: fromEnvironment(env) },
    { nameOf: (setting) => `${file.path}: ${setting}`, given: file.given },
  ]
  const issues = [...sources.flatMap(issuesOf), ...file.issues]
  if (issues.length > 0) throw new UsageError(issues.join('\n'))
  const first = (setting: Setting, from = sources) => {
    const value = from.map(({ given }) => given[setting]).find((given) => given !== undefined)
    return value === undefined ? null : String(value)
  }
  const url = withoutSlash(first('url') ?? DEFAULT_URL)
  const isOfFile = url === withoutSlash(String(file.given.url ?? DEFAULT_URL))
  // The token of a file is for the service of that file.
  const token = first('token', isOfFile ? sources : sources.slice(0, -1))
  return { url, token, catalog: first('catalog') }
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '')
}

/** An empty variable counts as unset, as in the service. */
function fromEnvironment(env: NodeJS.ProcessEnv): GivenSettings {
  return Object.fromEntries(SETTINGS.map((name) => [name, env[RULES[name].variable] || undefined]))
}

function issuesOf({ nameOf, given }: Source): string[] {
  return SETTINGS.flatMap((name) => {
    if (given[name] === undefined) return []
    if (typeof given[name] !== 'string') return [`${nameOf(name)} must be a string`]
    const { success, error } = RULES[name].schema.safeParse(given[name])
    return success ? [] : [`${nameOf(name)} ${error.issues[0]?.message}`]
  })
}
