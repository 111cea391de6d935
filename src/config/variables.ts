/** How environment variables are read: one by one, remembering what is wrong. A fault never shows the value: it may be a secret. */
import { durationMs, MAX_TIMER_MS } from '../lib/duration.ts'
import { misspelled } from './misspelled.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** Lists every fault of the environment at once. */
export class ConfigError extends Error {
  readonly faults: readonly string[]

  constructor(faults: readonly string[]) {
    super(
      `The configuration has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:\n${faults.map((fault) => `  ${fault}`).join('\n')}`,
    )
    this.name = 'ConfigError'
    this.faults = faults
  }
}

/** What a text says; throws a `Fault` when that is wrong. */
export type Parse<T> = (text: string) => T

/** What is wrong with a text: the rest of a sentence that begins with the variable's name. */
class Fault extends Error {}

export interface Variables {
  /** Null when the variable is unset, empty or at fault. */
  read<T>(name: string, parse: Parse<T>): T | null
  /** Whether it has a value, right or wrong. */
  isSet(name: string): boolean
  fault(sentence: string): void
}

/**
 * Reads `env` with `read`; throws a `ConfigError` when there was any fault. `warnings` are sentences about variables that `read` does
 * not know and that look like misspelled ones; with a fault they stand beside it, for they may be its reason.
 */
export function readVariables<T>(
  env: Environment,
  read: (variables: Variables) => T,
): { value: T; warnings: string[] } {
  const faults: string[] = []
  const known = new Set<string>()
  const value = read({
    read(name, parse) {
      known.add(name)
      const text = env[name]
      if (text === undefined || text === '') return null
      try {
        return parse(text)
      } catch (error) {
        if (!(error instanceof Fault)) throw error
        faults.push(`${name} ${error.message}`)
        return null
      }
    },
    isSet(name) {
      known.add(name)
      return Boolean(env[name])
    },
    fault: (sentence) => void faults.push(sentence),
  })
  const warnings = misspelled(Object.keys(env), known)
  if (faults.length > 0) throw new ConfigError([...faults, ...warnings])
  return { value, warnings }
}

const FLAGS = new Map([
  ...['true', '1', 'yes', 'on', 'y', 'enabled'].map((word) => [word, true] as const),
  ...['false', '0', 'no', 'off', 'n', 'disabled'].map((word) => [word, false] as const),
])

export const flag = satisfying((text) => FLAGS.get(text.toLowerCase()) ?? null, 'must be true or false')

/** Whether a variable that is a `flag` is true; what is not a flag is not. */
export function isOn(value: string | undefined): boolean {
  return FLAGS.get(value?.toLowerCase() ?? '') === true
}

export const text: Parse<string> = (text) => text

/** A text that holds `pattern`. */
export function matching(pattern: RegExp, message: string): Parse<string> {
  return where(text, (value) => pattern.test(value), message)
}

/** A text in which `faultOf` finds nothing. */
export function without(faultOf: (text: string) => string | null): Parse<string> {
  return (text) => {
    const fault = faultOf(text)
    if (fault !== null) throw new Fault(fault)
    return text
  }
}

/** Comma-separated, each entry trimmed, empty ones dropped. */
export const list: Parse<string[]> = (all) =>
  all
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')

export function integer(least: number, most: number = Number.MAX_SAFE_INTEGER): Parse<number> {
  const range =
    most === Number.MAX_SAFE_INTEGER ? `an integer of at least ${least}` : `an integer from ${least} to ${most}`
  return satisfying((text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
    return value >= least && value <= most ? value : null
  }, `must be ${range}`)
}

export const bytes = integer(1)

/** In milliseconds. */
export function duration({ leastMs }: { leastMs: number }): Parse<number> {
  const ms = satisfying((text) => {
    const value = /^\d+$/.test(text) ? Number(text) : durationMs(text)
    return value === null ? null : Math.ceil(value)
  }, 'must be a number of milliseconds or a duration with its unit, like 30s or 5m')
  return where(
    ms,
    (value) => value >= leastMs && value <= MAX_TIMER_MS,
    `must be from ${leastMs} ms to ${MAX_TIMER_MS} ms (24 days)`,
  )
}

export function url(...protocols: string[]): Parse<string> {
  return where(
    text,
    (value) => URL.canParse(value) && protocols.includes(new URL(value).protocol),
    `must be a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
  )
}

/** One that paths are appended to. */
export function baseUrl(): Parse<string> {
  return where(
    url('http:', 'https:'),
    (value) => {
      const { href, origin, pathname } = new URL(value)
      return href === `${origin}${pathname}`
    },
    'must be a URL without a user, a password, a query and a fragment',
  )
}

/** What `parse` makes of the text; a fault where it makes null. */
export function satisfying<T>(parse: (text: string) => T | null, message: string): Parse<T> {
  return (text) => {
    const value = parse(text)
    if (value === null) throw new Fault(message)
    return value
  }
}

/** What `parse` makes of the text; a fault where that is not as it should be. */
export function where<T>(parse: Parse<T>, holds: (value: T) => boolean, message: string): Parse<T> {
  return (text) => {
    const value = parse(text)
    if (!holds(value)) throw new Fault(message)
    return value
  }
}
