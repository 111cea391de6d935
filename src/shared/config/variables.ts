/**
 * Reads environment variables one by one and collects their errors.
 *
 * A variable is a zod schema of a string. Its error messages continue a sentence that begins with the variable's name,
 * and never show the value, which may be a secret.
 */
import * as z from 'zod/mini'
import { durationMs, MAX_TIMER_MS } from '../lib/duration.ts'
import { misspelled } from './misspelled.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** Lists every error of the configuration at once. */
export class ConfigError extends Error {
  /** One sentence each, which begins with the name of a variable. */
  readonly issues: readonly string[]

  constructor(issues: readonly string[]) {
    const count = issues.length === 1 ? 'an error' : `${issues.length} errors`
    super(`The configuration has ${count}:\n${issues.map((issue) => `  ${issue}`).join('\n')}`)
    this.name = 'ConfigError'
    this.issues = issues
  }
}

/** A zod schema of a string. */
export interface Variable<T> {
  safeParse(value: unknown): z.core.util.SafeParseResult<T>
}

export interface Variables {
  /** Null when the variable is unset, empty or invalid. */
  read<T>(name: string, variable: Variable<T>): T | null
  /** `fallback` when the variable is unset, empty or invalid. */
  readOr<T>(name: string, variable: Variable<T>, fallback: NoInfer<T>): T
  /** Whether it has a value, valid or not. */
  isSet(name: string): boolean
  /** All variables that have a value and whose names begin with this. */
  startingWith(prefix: string): Readonly<Record<string, string>>
  /** Adds an error that concerns more than one variable. */
  report(issue: string): void
}

/**
 * Calls `read` with the variables of `env`. Throws a `ConfigError` if any is invalid. `warnings` are sentences about
 * variables that `read` does not use and that look misspelled; a `ConfigError` lists them too, because a misspelling
 * may be the cause.
 */
export function readVariables<T>(
  env: Environment,
  read: (variables: Variables) => T,
): { value: T; warnings: string[] } {
  const issues: string[] = []
  const known = new Set<string>()
  const readVariable: Variables['read'] = (name, variable) => {
    known.add(name)
    const raw = env[name]
    if (raw === undefined || raw === '') return null
    const { success, data, error } = variable.safeParse(raw)
    if (success) return data
    issues.push(`${name} ${error.issues[0]?.message}`)
    return null
  }
  const value = read({
    read: readVariable,
    readOr: (name, variable, fallback) => readVariable(name, variable) ?? fallback,
    isSet(name) {
      known.add(name)
      return Boolean(env[name])
    },
    startingWith(prefix) {
      const entries = Object.entries(env).flatMap(([name, value]) =>
        name.startsWith(prefix) && value ? [[name, value]] : [],
      )
      for (const [name = ''] of entries) known.add(name)
      return Object.fromEntries(entries)
    },
    report: (issue) => void issues.push(issue),
  })
  const warnings = misspelled(Object.keys(env), known)
  if (issues.length > 0) throw new ConfigError([...issues, ...warnings])
  return { value, warnings }
}

export const anyString = z.string()

export const flag = z.stringbool({ error: 'must be true or false' })

/** Whether a variable is set to true. False for anything that is not a flag. */
export function isOn(value: string | undefined): boolean {
  return flag.safeParse(value).data === true
}

export function matching(pattern: RegExp, error: string) {
  return anyString.check(z.regex(pattern, { error }))
}

/** A header cannot carry other characters. */
export const bearerToken = matching(/^[\x20-\x7e]+$/, 'must be printable ASCII')

/** Comma-separated; entries are trimmed, empty ones dropped. */
export const commaSeparatedList = z.pipe(
  anyString,
  z.transform((value) =>
    value
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== ''),
  ),
)

export function integerVariable(min: number, max: number = Number.MAX_SAFE_INTEGER) {
  const error = `must be an integer ${max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`}`
  const range = z.number(error).check(z.minimum(min, { error }), z.maximum(max, { error }))
  return z.pipe(z.pipe(matching(/^\d+$/, error), z.transform(Number)), range)
}

export const bytes = integerVariable(1)

/** A duration like `30s`, or a number of milliseconds. Its value is in milliseconds. */
export function duration({ minMs }: { minMs: number }) {
  const error = `must be from ${minMs} ms to ${MAX_TIMER_MS} ms (24 days)`
  const milliseconds = z
    .number('must be a number of milliseconds or a duration with a unit, like 30s or 5m')
    .check(z.minimum(minMs, { error }), z.maximum(MAX_TIMER_MS, { error }))
  return z.pipe(z.pipe(anyString, z.transform(toMs)), milliseconds)
}

function toMs(value: string): number {
  return Math.ceil(/^\d+$/.test(value) ? Number(value) : (durationMs(value) ?? Number.NaN))
}

/** An http or https URL that paths are appended to. */
export const baseUrl = anyString.check(
  z.refine((value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol), {
    error: 'must be a URL that begins with http:// or https://',
    abort: true,
  }),
  z.refine((value) => new URL(value).href === `${new URL(value).origin}${new URL(value).pathname}`, {
    error: 'must be a URL without user, password, query or fragment',
  }),
)
