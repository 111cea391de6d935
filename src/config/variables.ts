/** How environment variables are read: one by one, remembering what is wrong. A fault never shows the value: it may be a secret. */
import * as z from 'zod/mini'
import { durationMs, MAX_TIMER_MS } from '../protocol/duration.ts'

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

export interface Variables {
  /** Null when the variable is unset, empty or at fault. */
  read<T>(name: string, schema: z.ZodMiniType<T>): T | null
  /** Whether it has a value, right or wrong. */
  isSet(name: string): boolean
  fault(sentence: string): void
}

/** Reads `env` with `read`; throws a `ConfigError` when there was any fault. */
export function readVariables<T>(env: Environment, read: (variables: Variables) => T): T {
  const faults: string[] = []
  const value = read({
    read(name, schema) {
      const text = env[name]
      if (text === undefined || text === '') return null
      const parsed = schema.safeParse(text)
      if (parsed.success) return parsed.data
      faults.push(`${name} ${parsed.error.issues[0]?.message ?? 'is invalid'}`)
      return null
    },
    isSet: (name) => Boolean(env[name]),
    fault: (sentence) => void faults.push(sentence),
  })
  if (faults.length > 0) throw new ConfigError(faults)
  return value
}

export const flag = z.stringbool({ error: 'must be true or false' })

export const text = z.string()

/** A text that holds `pattern`. */
export function matching(pattern: RegExp, message: string) {
  return z.string().check(z.regex(pattern, message))
}

/** A text in which `faultOf` finds nothing. */
export function without(faultOf: (text: string) => string | null) {
  return z.string().check(
    z.superRefine((text, context) => {
      const fault = faultOf(text)
      if (fault !== null) context.addIssue(fault)
    }),
  )
}

/** Comma-separated, each entry trimmed, empty ones dropped. */
export const list = z.pipe(
  z.string(),
  z.transform((all) =>
    all
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== ''),
  ),
)

export function integer(least: number, most: number = Number.MAX_SAFE_INTEGER) {
  const range = most === Number.MAX_SAFE_INTEGER ? `an integer of at least ${least}` : `an integer from ${least} to ${most}`
  return satisfying((text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
    return value >= least && value <= most ? value : null
  }, `must be ${range}`)
}

export const bytes = integer(1)

/** In milliseconds. */
export function duration({ leastMs }: { leastMs: number }) {
  return satisfying(
    (value) => (/^\d+$/.test(value) ? Number(value) : durationMs(value)),
    'must be a number of milliseconds or a duration with its unit, like 30s or 5m',
  )
    .with(z.overwrite(Math.ceil))
    .check(z.refine((ms) => ms >= leastMs && ms <= MAX_TIMER_MS, `must be from ${leastMs} ms to ${MAX_TIMER_MS} ms (24 days)`))
}

export function url(...protocols: string[]) {
  return satisfying(
    (value) => (URL.canParse(value) && protocols.includes(new URL(value).protocol) ? value : null),
    `must be a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
  )
}

/** One that paths are appended to. */
export function baseUrl() {
  return url('http:', 'https:').check(
    z.refine((value) => {
      const { href, origin, pathname } = new URL(value)
      return href === `${origin}${pathname}`
    }, 'must be a URL without a user, a password, a query and a fragment'),
  )
}

/** What `parse` makes of the text; a fault where it makes null. */
export function satisfying<T>(parse: (value: string) => T | null, message: string) {
  return z.pipe(
    z.string(),
    z.transform((input, { issues }): T => {
      const parsed = parse(input)
      if (parsed !== null) return parsed
      issues.push({ code: 'custom', input, message })
      return z.NEVER
    }),
  )
}
