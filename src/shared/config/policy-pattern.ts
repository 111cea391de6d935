/** The patterns in the rules of a policy. Each function returns what is wrong with one, or null. */
import { pointerIssue } from '../lib/json.ts'
import { patternIssue, workflowIdIssue } from '../wire/names.ts'

// A claim is encoded to `[a-z0-9._@~-]` before it is filled in. It contains none of these, so each one ends a claim.
const DELIMITERS = ':/|,;=+#!$&()'

const PLACEHOLDER = /\{([^{}]*)\}/g

/** For names: a `*` at the end stands for any characters. */
export function namePatternIssue(pattern: string): string | null {
  if (/[{}]/.test(pattern)) return 'must not contain { or }: placeholders such as {sub} are for ids only'
  return patternIssue(pattern)
}

/** For workflow ids: also with placeholders, `{claim}` or `{/json/pointer}`. */
export function idPatternIssue(pattern: string): string | null {
  if (/[{}]/.test(pattern.replaceAll(PLACEHOLDER, '')))
    return 'must contain { and } only around the name of a claim, as in u:{sub}:*'
  return placeholdersOf(pattern).map(placeholderIssue).find(isIssue) ?? patternIssue(pattern)
}

/** For the ids of hooks: exact, with JSON Pointers into the body as placeholders. `idIssue` checks the filled id. */
export function idTemplateIssue(template: string, idIssue = workflowIdIssue): string | null {
  if (template.includes('*')) return 'must not contain "*": it is one id, not a pattern'
  const hasOthers = placeholdersOf(template).some(({ claim }) => !claim.startsWith('/'))
  if (hasOthers) return 'must contain only JSON Pointers into the body as placeholders, as in order:{/id}'
  return idPatternIssue(template) ?? idIssue(template.replaceAll(PLACEHOLDER, 'x'))
}

/** Whether an id has placeholders: claims of a JWT, or values of a body. */
export function hasPlaceholders(pattern: string): boolean {
  return placeholdersOf(pattern).length > 0
}

/** Whether a database that ignores case or accents would also list and count runs with other ids. */
export function isAmbiguousInDatabases(pattern: string): boolean {
  return /[A-Z]|[^\0-\x7f]/.test(pattern.replaceAll(PLACEHOLDER, ''))
}

/** The name of a claim: the key of the JWT, or a JSON Pointer into it. */
export function claimIssue(claim: string): string | null {
  if (claim === '') return 'must not be empty'
  return claim.startsWith('/') ? pointerIssue(claim) : null
}

interface Placeholder {
  claim: string
  /** The character after it; empty at the end. */
  next: string
}

function placeholdersOf(pattern: string): Placeholder[] {
  return [...pattern.matchAll(PLACEHOLDER)].map(({ 0: whole, 1: claim = '', index }) => ({
    claim,
    next: pattern.charAt(index + whole.length),
  }))
}

function placeholderIssue({ claim, next }: Placeholder): string | null {
  const issue = claimIssue(claim)
  if (issue !== null) return `has a placeholder whose claim ${issue}`
  // Otherwise `u:{sub}*` would also give Ada the ids of Adam.
  return DELIMITERS.includes(next)
    ? null
    : `must have nothing or a delimiter after a placeholder: one of ${[...DELIMITERS].join(' ')}`
}

function isIssue(issue: string | null): issue is string {
  return issue !== null
}
