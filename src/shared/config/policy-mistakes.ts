/** Mistakes in a policy that no schema of a single value finds, and the places of mistakes. */
import { isObject, toPointer } from '../lib/json.ts'
import { hasPlaceholders } from './policy-pattern.ts'

export interface Mistake {
  path: readonly PropertyKey[]
  message: string
}

/** Mistakes between values. The document may have others: all are reported at once. */
export function mistakesBetween(document: unknown): Mistake[] {
  return [
    ...prototypeKeys(document),
    ...missing(document),
    ...placeholdersWithoutClaims(document),
    ...duplicates(document),
  ]
}

// Longer keys are not shown, because they may be tokens or hashes of tokens.
const MAX_SHOWN_KEY = 40

const SECRET_PREFIX = /^(?:ptc|whsec)_/

/** The pointer, without keys that may be tokens in a wrong place. */
export function shownPointer(path: readonly PropertyKey[]): string {
  return toPointer(path.map(String).map((key) => (key.length > MAX_SHOWN_KEY || SECRET_PREFIX.test(key) ? '…' : key)))
}

/** The names of the issuers, valid or not. */
export function issuersIn(document: unknown): string[] {
  return isObject(document) && isObject(document.issuers) ? Object.keys(document.issuers) : []
}

/** The rules that are objects, valid or not, so that mistakes between rules are reported with all others. */
function rulesIn(document: unknown): { rule: Record<string, unknown>; path: PropertyKey[] }[] {
  const rules: unknown[] = isObject(document) && Array.isArray(document.rules) ? document.rules : []
  return rules.flatMap((rule, index) => (isObject(rule) ? [{ rule, path: ['rules', index] }] : []))
}

// No valid policy is nested deeper, and a recursion without a limit could use up the stack.
const MAX_DEPTH = 10

/** Keys named `__proto__`. Zod skips them in records, so that a rule would apply without the claim of this name. */
export function prototypeKeys(value: unknown, path: readonly PropertyKey[] = []): Mistake[] {
  if (typeof value !== 'object' || value === null || path.length > MAX_DEPTH) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    key === '__proto__'
      ? [{ path: [...path, key], message: 'is not a valid key' }]
      : prototypeKeys(inner, [...path, key]),
  )
}

/** A policy can consist of hooks alone. */
function missing(document: unknown): Mistake[] {
  if (!isObject(document) || Object.hasOwn(document, 'rules') || Object.hasOwn(document, 'hooks')) return []
  return [{ path: ['rules'], message: 'is required, unless there are hooks' }]
}

function placeholdersWithoutClaims(document: unknown): Mistake[] {
  return rulesIn(document).flatMap(({ rule: { who, ids }, path }) => {
    if (!Array.isArray(ids) || !isObject(who) || !Object.hasOwn(who, 'token')) return []
    return ids.flatMap((pattern, index) =>
      typeof pattern === 'string' && hasPlaceholders(pattern)
        ? [{ path: [...path, 'ids', index], message: 'must not contain a placeholder: a token has no claims' }]
        : [],
    )
  })
}

function duplicates(document: unknown): Mistake[] {
  const issuers = isObject(document) && isObject(document.issuers) ? Object.entries(document.issuers) : []
  return [
    ...repeated(rulesIn(document).map(({ rule, path }) => ({ value: rule.name, path: [...path, 'name'] }))),
    // A JWT names its issuer, which must lead to one set of keys.
    ...repeated(
      issuers.map(([name, issuer]) => ({
        value: isObject(issuer) ? issuer.issuer : undefined,
        path: ['issuers', name, 'issuer'],
      })),
    ),
  ]
}

function repeated(values: { value: unknown; path: PropertyKey[] }[]): Mistake[] {
  return values.flatMap(({ value, path }, index) => {
    const first = values.find((other) => other.value === value)
    if (typeof value !== 'string' || first === undefined || first === values[index]) return []
    return [{ path, message: `must differ from ${shownPointer(first.path)}` }]
  })
}
