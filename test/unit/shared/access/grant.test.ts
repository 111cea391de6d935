import { expect, test } from 'vitest'
import type { Grant, Rule } from '../../../../src/shared/access/caller.ts'
import { callerIn, callerOf, denialOf, mayUse } from '../../../../src/shared/access/grant.ts'
import { encodeClaim, matches, withClaims } from '../../../../src/shared/access/patterns.ts'

const DEFAULTS = { catalog: 'orders', namespace: 'default' }

const USERS: Rule = { name: 'users', who: { jwt: 'main', claims: {} }, can: ['read'], ids: ['u:{sub}:*'] }

function aGrant(overrides: Partial<Grant> = {}): Grant {
  return { rule: 'ci', can: ['*'], options: [], ...overrides }
}

test('patterns: a star at the end stands for any characters, and nothing else is special (threat 24)', () => {
  expect([matches('ci:*', 'ci:1'), matches('ci:*', 'ci:'), matches('ci:*', 'ci')]).toEqual([true, true, false])
  expect([matches('a.c', 'abc'), matches('a.c', 'a.c'), matches('*', '')]).toEqual([false, true, true])
})

test('claims: upper case, delimiters and wildcards are encoded, so that no claim contains them (threat 24)', () => {
  expect(['Ada', 'ada:x', '*', 'ada@example.com', '~', 'é'].map(encodeClaim)).toEqual([
    '~41da',
    'ada~3ax',
    '~2a',
    'ada@example.com',
    '~7e',
    '~c3~a9',
  ])
})

test('claims: a pattern is filled by name and by JSON Pointer', () => {
  expect(withClaims('o:{/org/id}:{sub}:*', { sub: 'ada', org: { id: 7 } })).toBe('o:7:ada:*')
})

test('claims: a lone surrogate fills no pattern, because all of them would be encoded alike (threat 24)', () => {
  expect(['\ud800', '\udfff', 'a\ud800', '\ud83d\ude00'].map((sub) => withClaims('u:{sub}:*', { sub }))).toEqual([
    null,
    null,
    null,
    'u:~f0~9f~98~80:*',
  ])
})

test('claims: a missing, empty or structured claim fills no pattern (threat 24)', () => {
  const values = [undefined, '', null, ['ada'], { a: 1 }, 1.5, true]

  expect(values.map((sub) => withClaims('u:{sub}:*', { sub }))).toEqual(values.map(() => null))
  expect(withClaims('u:{toString}:*', {})).toBeNull()
})

test('caller: a token is that of the first rule that has it, and has all its rules', () => {
  const rules: Rule[] = [
    { name: 'other', who: { token: ['b'] }, can: ['*'] },
    { name: 'ci', who: { token: ['a', 'old'] }, can: ['start'] },
    { name: 'more', who: { token: ['a'] }, can: ['read'], limits: { inFlight: 1 } },
  ]

  const caller = callerOf({ token: 'a' }, { rules })

  expect(caller?.id).toBe('token:ci')
  expect(caller?.grants?.map(({ rule }) => rule)).toEqual(['ci', 'more'])
  expect(caller?.limits).toEqual({ inFlight: 1, rule: 'more' })
  expect(callerOf({ token: 'old' }, { rules })?.id).toBe('token:ci')
  expect(callerOf({ token: 'c' }, { rules })).toBeNull()
})

test('caller: a JWT has the rules of its issuer whose claims it has', () => {
  const support = { jwt: 'main', claims: { '/realm/roles': ['support', 'lead'], org: ['acme'] } }
  const rules: Rule[] = [USERS, { name: 'support', who: support, can: ['list'] }]
  const rulesOf = (claims: Record<string, unknown>, jwt = 'main') =>
    callerOf({ jwt, claims: { sub: 'ada', ...claims } }, { rules })?.grants?.map(({ rule }) => rule)

  expect(rulesOf({})).toEqual(['users'])
  expect(rulesOf({ realm: { roles: ['dev', 'lead'] }, org: 'acme' })).toEqual(['users', 'support'])
  expect(rulesOf({ realm: { roles: ['lead'] }, org: 'Acme' })).toEqual(['users'])
  expect(rulesOf({}, 'other')).toEqual([])
})

test('caller: claims can be numbers and booleans, and of scopes each word counts', () => {
  const claims = { scope: ['orders:read'], scp: ['a'], level: ['3'], email_verified: ['true'] }
  const applies = (given: Record<string, unknown>) =>
    callerOf({ jwt: 'main', claims: given }, { rules: [{ ...USERS, ids: [], who: { jwt: 'main', claims } }] })?.grants
      ?.length === 1
  const all = { scope: 'openid orders:read', scp: ['b', 'a c'], level: 3, email_verified: true }

  expect(applies(all)).toBe(true)
  for (const other of [{ scope: 'orders:readers' }, { scp: 'b' }, { level: 3.5 }, { email_verified: false }])
    expect(applies({ ...all, ...other })).toBe(false)
})

test('caller: a rule does not apply when a claim of its ids is missing (threat 105)', () => {
  const rules: Rule[] = [{ ...USERS, ids: ['u:{sub}:*', 'o:{org}:*'] }]

  expect(callerOf({ jwt: 'main', claims: { sub: 'ada' } }, { rules })?.grants).toEqual([])
})

test('rules: one rule must allow the whole request (threat 105)', () => {
  const grant = aGrant({ can: ['start', 'signal:app*'], ids: ['ci:*'], workflows: ['deploy*'], options: ['memo'] })
  const denial = (request: Parameters<typeof denialOf>[1]) => denialOf(grant, request, DEFAULTS)

  expect(denial({ verb: 'start', workflowId: 'ci:1', workflowName: 'deployAll', options: ['memo'] })).toBeNull()
  expect(denial({ verb: 'read' })).toBe('can')
  expect(denial({ verb: 'signal', handler: 'approve' })).toBeNull()
  expect(denial({ verb: 'signal', handler: 'reject' })).toBe('can')
  expect(denial({ verb: 'start', workflowId: 'x' })).toBe('ids')
  expect(denial({ verb: 'start', workflowName: 'order' })).toBe('workflows')
  expect(denial({ verb: 'start', options: ['memo', 'headers'] })).toBe('options')
  expect(denial({ verb: 'start', catalog: 'orders' })).toBeNull()
  expect(denial({ verb: 'start', catalog: 'others' })).toBe('catalogs')
  expect(denial({ verb: 'start', namespace: 'others' })).toBe('namespaces')
})

test('rules: without namespaces a rule applies in the default one', () => {
  const caller = {
    kind: 'granted' as const,
    id: 'token:ci',
    grants: [aGrant(), aGrant({ namespaces: ['acme'] })],
    limits: null,
  }

  expect(callerIn(caller, 'default', 'default')).toEqual({ ...caller, grants: [aGrant()] })
  expect(callerIn(caller, 'acme', 'default')).toEqual({ ...caller, grants: [aGrant({ namespaces: ['acme'] })] })
  const operator = { kind: 'operator' as const, id: 'operator', limits: null }
  expect(callerIn(operator, 'acme', 'default')).toBe(operator)
})

test('verbs: a narrowed verb may be used, any verb on runs or activity opens the catalog, and any that a tool needs the tools', () => {
  const may = (can: string[], access: Parameters<typeof mayUse>[1]) =>
    mayUse({ kind: 'granted', grants: [aGrant({ can })] }, access)

  expect([may(['signal:approve'], 'signal'), may(['signal:approve'], 'update')]).toEqual([true, false])
  const ofCatalog = [['query:state'], ['activity:charge'], ['metrics'], ['stop']].map((can) => may(can, 'catalog'))
  expect(ofCatalog).toEqual([true, true, false, false])
  expect([may(['stop'], 'tools'), may(['query:state'], 'tools'), may(['terminate'], 'tools')]).toEqual([
    true,
    true,
    false,
  ])
  expect([may(['metrics'], 'any'), may(['metrics'], 'metrics'), may(['*'], 'metrics')]).toEqual([true, true, true])
})
