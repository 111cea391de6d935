/** Where the service is, and how to call it: from flags, then from variables, then from the nearest `.portico.json`. */
import * as z from 'zod/mini'
import { anyString, baseUrl, bearerToken, matching } from '../shared/config/variables.ts'
import { UsageError } from './failures.ts'
import { readSettingsFile, SETTINGS, type Setting } from './settings-file.ts'

export interface Settings {
  url: string
  token: string | null
  /** Null: the one of paths without a namespace. */
  namespace: string | null
  /** Null: the service's own. */
  catalog: string | null
  /** Whether the URL is that of a `.portico.json`, which may be part of somebody else's repository. */
  isUrlOfFile: boolean
  /** Why the token that was given is not sent, for people. Null if it is sent, and without a token. */
  withheldToken: string | null
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
  namespace: {
    variable: 'PORTICO_NAMESPACE',
    schema: matching(/^(?!\.{1,2}$)./, 'must be the name of a namespace'),
  },
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
  const ofFlags: Source = { nameOf: (setting) => `--${setting}`, given: flags }
  const ofVariables: Source = { nameOf: (setting) => RULES[setting].variable, given: fromEnvironment(env) }
  const ofFile: Source = { nameOf: (setting) => `${file.path}: ${setting}`, given: file.given }
  const sources = [ofFlags, ofVariables, ofFile]
  const issues = [...sources.flatMap(issuesOf), ...file.issues]
  if (issues.length > 0) throw new UsageError(issues.join('\n'))
  const sourceOf = (setting: Setting, from = sources) => from.find(({ given }) => given[setting] !== undefined)
  const given = (setting: Setting, source: Source | undefined) => (source ? String(source.given[setting]) : null)
  const urlSource = sourceOf('url')
  const isUrlOfFile = urlSource === ofFile
  const url = withoutSlash(given('url', urlSource) ?? DEFAULT_URL)
  const isServiceOfFile = url === withoutSlash(String(file.given.url ?? DEFAULT_URL))
  // A settings file must not decide where the user's own token is sent, and its own token is only for the service that
  // it names.
  const senders = sources.filter((source) => (source === ofFile ? isServiceOfFile : !isUrlOfFile))
  const tokenSource = sourceOf('token', senders)
  const ownToken = sourceOf('token', [ofFlags, ofVariables])
  // A file with a token for its URL needs no other token, unless a flag has one.
  const isWithheld = isUrlOfFile && (ownToken === ofFlags || tokenSource === undefined)
  return {
    url,
    token: given('token', tokenSource),
    namespace: given('namespace', sourceOf('namespace')),
    catalog: given('catalog', sourceOf('catalog')),
    isUrlOfFile,
    withheldToken: ownToken && isWithheld ? withheldNote(ownToken.nameOf('token'), url, file.path) : null,
  }
}

function withheldNote(token: string, url: string, path: string): string {
  return `${token} is not sent to ${url}, which ${path} names. To send it, set PORTICO_URL or --url to that URL.`
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
