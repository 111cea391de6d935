/** Checks the policies and the tables of `docs/access.md` against the code. */
import { expect, test } from 'vitest'
import { explainPolicy } from '../../src/cli/policy/explain-policy.ts'
import { type QuestionFlags, readQuestion } from '../../src/cli/policy/question.ts'
import { ENDPOINTS } from '../../src/service/endpoints.ts'
import type { Issuer } from '../../src/service/http/credentials/jwt.ts'
import type { CallerLimits, Rule } from '../../src/shared/access/caller.ts'
import { CATALOG_VERBS } from '../../src/shared/access/grant.ts'
import { encodeClaim } from '../../src/shared/access/patterns.ts'
import { POLICY_OPTIONS, POLICY_VERBS } from '../../src/shared/access/policy-verbs.ts'
import { type ParsedPolicy, type Policy, parsePolicy } from '../../src/shared/config/policy.ts'
import { chapterOf, codeBlocks } from '../support/markdown.ts'
import { textOf } from '../support/repository.ts'

const page = textOf('docs/access.md')

const NAMES = { namespaces: ['default', 'acme', 'globex'] }

const POLICIES = [
  'CI',
  'Read-only dashboard',
  'Users with an identity provider',
  'Two tenants with namespaces',
  'On-call team',
]

test('docs/access.md: its policies are valid, without a warning', () => {
  const documents = codeBlocks(page, 'json').filter((block) => block.includes('"version"'))
  const chapter = chapterOf(page, 'Policies to copy')

  expect([...chapter.matchAll(/^### (.+)$/gm)].map(([, title]) => title)).toEqual(POLICIES)
  expect(codeBlocks(chapter, 'json')).toHaveLength(POLICIES.length)
  expect(documents).toHaveLength(POLICIES.length + 1)
  for (const document of documents) {
    expect(parsePolicy(JSON.parse(document), NAMES)).toMatchObject({ policy: { version: 1 }, warnings: [] })
  }
})

const ADA = { as: 'jwt:main', claim: ['sub=ada'] }
const ACME = { as: 'jwt:main', claim: ['sub=ada', 'org=acme'] }
const SUPPORT = { as: 'jwt:main', claim: ['sub=grace', '/realm_access/roles=support'] }
const ENGINEER = { as: 'jwt:staff', claim: ['sub=ada', 'groups=engineering'] }
const ON_CALL = { as: 'jwt:staff', claim: ['sub=ada', 'groups=engineering', 'groups=on-call'] }
const PLATFORM = { as: 'jwt:staff', claim: ['sub=ada', 'groups=platform'] }

/** What the page says about each policy, as questions. Null: no rule allows it. */
test.for<[policy: string, action: string, flags: QuestionFlags, rule: string | null]>([
  ['CI', 'start', { as: 'token:ci', workflow: 'deploy-web', id: 'ci:17' }, 'ci'],
  ['CI', 'start', { as: 'token:ci', workflow: 'order', id: 'ci:17' }, null],
  ['CI', 'read', { as: 'token:ci', id: 'ci:17' }, 'ci'],
  ['CI', 'read', { as: 'token:ci', id: 'u:ada:17' }, null],
  ['CI', 'list', { as: 'token:ci' }, null],
  ['CI', 'stop', { as: 'token:ci', id: 'ci:17' }, null],
  ['Read-only dashboard', 'list', { as: 'token:dashboard' }, 'dashboard'],
  ['Read-only dashboard', 'read', { as: 'token:dashboard', id: 'u:ada:17', catalog: 'orders' }, 'dashboard'],
  ['Read-only dashboard', 'metrics', { as: 'token:dashboard' }, 'dashboard'],
  ['Read-only dashboard', 'signal', { as: 'token:dashboard' }, null],
  ['Read-only dashboard', 'query', { as: 'token:dashboard' }, null],
  ['Users with an identity provider', 'start', { ...ADA, workflow: 'order', id: 'u:ada:17' }, 'users'],
  ['Users with an identity provider', 'start', { ...ADA, workflow: 'order', id: 'u:ada:17', option: ['memo'] }, null],
  ['Users with an identity provider', 'signal:approve', { ...ADA, id: 'u:ada:17' }, 'users'],
  ['Users with an identity provider', 'signal:reject', { ...ADA, id: 'u:ada:17' }, null],
  ['Users with an identity provider', 'read', { ...ADA, id: 'u:ben:17' }, null],
  ['Users with an identity provider', 'read', { ...SUPPORT, id: 'u:ben:17' }, 'support'],
  ['Users with an identity provider', 'stop', { ...SUPPORT, id: 'u:ben:17' }, null],
  ['Users with an identity provider', 'stop', { ...SUPPORT, id: 'u:grace:17' }, 'users'],
  ['Two tenants with namespaces', 'start', { ...ACME, namespace: 'acme', id: '17', catalog: 'a' }, 'acme'],
  ['Two tenants with namespaces', 'read', { ...ACME, namespace: 'globex' }, null],
  ['Two tenants with namespaces', 'read', ACME, null],
  ['On-call team', 'list', ENGINEER, 'engineers'],
  ['On-call team', 'stop', ENGINEER, null],
  ['On-call team', 'reset', ON_CALL, 'on-call'],
  ['On-call team', 'signal:retry', ON_CALL, 'on-call'],
  ['On-call team', 'terminate', ON_CALL, null],
  ['On-call team', 'pause', PLATFORM, 'on-call'],
  ['On-call team', 'terminate', PLATFORM, 'platform'],
  ['On-call team', 'start', PLATFORM, null],
])(
  'docs/access.md: in the policy "%s" the action %s of %o is allowed by the rule %s',
  ([title, action, flags, rule]) => {
    const policy = policyBelow(title)

    expect(explainPolicy(policy.rules, readQuestion(policy, action, flags, {})).rule).toBe(rule)
  },
)

test('docs/access.md: has each verb once', () => {
  expect(firstCells(sectionOf('Verbs'))).toEqual([...POLICY_VERBS])
})

/** What the table of endpoints calls each `access`, besides the verbs. */
const REQUIREMENTS = new Map<string | null, string>([
  [null, 'nothing'],
  ['any', 'any credential'],
  ['catalog', 'a verb on runs or activity'],
  ['tools', 'a verb on runs or stop'],
])

test('docs/access.md: says for each endpoint what it requires', () => {
  const rows = rowsOf(sectionOf('Endpoints'))
  const documented = rows.flatMap(([endpoints = '', requirement = '']) =>
    codesIn(endpoints).map((endpoint) => `${endpoint}: ${requirement.replaceAll('`', '')}`),
  )
  const declared = ENDPOINTS.filter(({ path }) => !path.includes('/runs/:rid/')).map(
    ({ method, path, access }) => `${method.toUpperCase()} ${path}: ${REQUIREMENTS.get(access) ?? access}`,
  )
  const ofCatalogs = rows.find(([, requirement]) => requirement === 'a verb on runs or `activity`')

  expect(documented.toSorted()).toEqual(declared.toSorted())
  expect(codesIn(ofCatalogs?.[2] ?? '')).toEqual([...CATALOG_VERBS])
})

test('docs/access.md: has each key of a policy', () => {
  const rule: Record<keyof Rule, true> = {
    name: true,
    who: true,
    can: true,
    ids: true,
    workflows: true,
    catalogs: true,
    namespaces: true,
    options: true,
    limits: true,
  }
  const issuer: Record<keyof Issuer, true> = {
    issuer: true,
    audience: true,
    audienceClaim: true,
    jwksUrl: true,
    typ: true,
  }
  const limits: Record<keyof CallerLimits, true> = { perSecond: true, burst: true, inFlight: true, waits: true }
  const policy: Record<keyof Policy, true> = { version: true, issuers: true, rules: true, hooks: true }

  expect(firstCells(introOf(chapterOf(page, 'The policy')))).toEqual(Object.keys(policy))
  expect(firstCells(sectionOf('Issuers'))).toEqual(Object.keys(issuer))
  expect(firstCells(sectionOf('Rules')).slice(0, Object.keys(rule).length)).toEqual(Object.keys(rule))
  expect(firstCells(sectionOf('Limits'))).toEqual(Object.keys(limits))
})

test('docs/access.md: has each option of a start', () => {
  const options = /^\*\*Options\.\*\* (.+?)\. They/m.exec(page)?.[1] ?? ''

  expect(codesIn(options).toSorted()).toEqual([...POLICY_OPTIONS].toSorted())
})

test('docs/access.md: claims are encoded as its table says', () => {
  const [, ...rows] = sectionOf('Rules').split(/^\| Claim \|/m)
  const claims = rowsOf(rows.join('')).map((cells) => cells.slice(0, 2).map((cell) => codesIn(cell)[0] ?? ''))

  expect(claims.length).toBeGreaterThan(3)
  for (const [claim = '', encoded] of claims) expect(encodeClaim(claim)).toBe(encoded)
})

function policyBelow(title: string): Policy {
  const [block = ''] = codeBlocks(sectionOf(title), 'json')
  const parsed: ParsedPolicy = parsePolicy(JSON.parse(block), NAMES)
  if ('issues' in parsed) throw new Error(parsed.issues.join('\n'))
  return parsed.policy
}

/** The text below a heading of the third level, up to the next heading. */
function sectionOf(heading: string): string {
  const section = new RegExp(`^### ${heading}\\n(.*?)(?=^##|$(?![^]))`, 'ms').exec(page)?.[1]
  if (section === undefined) throw new Error(`There is no section ${heading}`)
  return section
}

/** The text before the first heading. */
function introOf(text: string): string {
  return text.split(/^###/m)[0] ?? ''
}

/** The cells of each row of a table, without its head. */
function rowsOf(text: string): string[][] {
  const lines = text.split('\n').filter((line) => line.startsWith('|'))
  const body = lines.slice(lines.findIndex((line) => /^\|(?:---\|)+$/.test(line)) + 1)
  return body.map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  )
}

function firstCells(text: string): string[] {
  return rowsOf(text).flatMap(([first = '']) => codesIn(first))
}

function codesIn(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)
}
