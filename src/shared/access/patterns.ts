/** Patterns of the policy: exact values, or beginnings that end in `*`. */
import { pointerKeys } from '../lib/json.ts'

export function matches(pattern: string, value: string): boolean {
  return pattern.endsWith('*') ? value.startsWith(pattern.slice(0, -1)) : value === pattern
}

/** Whether one of the patterns matches. Absent patterns match everything. */
export function matchesAny(patterns: readonly string[] | undefined, value: string): boolean {
  return patterns === undefined || patterns.some((pattern) => matches(pattern, value))
}

/** The narrower pattern if the other one matches it: it stands for what both match. Null if both match nothing. */
export function commonPattern(one: string, other: string): string | null {
  if (matches(one, other)) return other
  return matches(other, one) ? one : null
}

/** The patterns for what both match. Absent patterns match everything. */
export function commonPatterns(
  some: readonly string[] | undefined,
  others: readonly string[] | undefined,
): readonly string[] | undefined {
  if (some === undefined || others === undefined) return some ?? others
  return [...new Set(some.flatMap((one) => others.flatMap((other) => commonPattern(one, other) ?? [])))]
}

/** Whether the patterns match every value. */
export function matchesAll(patterns: readonly string[] | undefined): boolean {
  return patterns === undefined || patterns.includes('*')
}

export type Claims = Readonly<Record<string, unknown>>

/** The value of a claim, by name or JSON Pointer; undefined without such a claim. `claims` can be any JSON value. */
export function claimValue(claims: unknown, name: string): unknown {
  const keys = name.startsWith('/') ? pointerKeys(name) : [name]
  return keys.reduce<unknown>((value, key) => (hasKey(value, key) ? Reflect.get(value, key) : undefined), claims)
}

function hasKey(value: unknown, key: string): value is object {
  if (Array.isArray(value) && !/^\d+$/.test(key)) return false
  return typeof value === 'object' && value !== null && !JSON.isRawJSON(value) && Object.hasOwn(value, key)
}

/** The top-level claims to which these names or JSON Pointers lead. */
export function onlyClaims(claims: Claims, names: readonly string[]): Claims {
  const keys = new Set(names.map((name) => (name.startsWith('/') ? pointerKeys(name)[0] : name)))
  return Object.fromEntries(Object.entries(claims).filter(([key]) => keys.has(key)))
}

/** The claims that the placeholders of a pattern name. */
export function claimNames(pattern: string): string[] {
  return [...pattern.matchAll(PLACEHOLDER)].map(([, name = '']) => name)
}

const PLACEHOLDER = /\{([^}]+)\}/g

/** The pattern with the values of its claims; null if a claim is missing, empty, or neither string nor integer. */
export function withClaims(pattern: string, claims: unknown): string | null {
  let isComplete = true
  const filled = pattern.replace(PLACEHOLDER, (_, name: string) => {
    const text = claimText(claimValue(claims, name))
    if (text === null) isComplete = false
    return encodeClaim(text ?? '')
  })
  return isComplete ? filled : null
}

/** A claim that can stand in an id; null for any other value. Lone surrogates would all be encoded alike. */
export function claimText(value: unknown): string | null {
  // A number of a request body that a double cannot represent.
  if (JSON.isRawJSON(value)) return integerText(JSON.stringify(value))
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value)
  return typeof value === 'string' && value !== '' && value.isWellFormed() ? value : null
}

function integerText(number: string): string | null {
  return /^-?\d+$/.test(number) ? number : null
}

/**
 * The claim without delimiters, wildcards and upper case: `Ada` becomes `~41da`. No two claims become equal, not even
 * in a database that ignores case.
 */
export function encodeClaim(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => {
    const character = String.fromCharCode(byte)
    return /[a-z0-9._@-]/.test(character) ? character : `~${byte.toString(16).padStart(2, '0')}`
  }).join('')
}
