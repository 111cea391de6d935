import { expect, test } from 'vitest'
import { optionFields } from '../../../../src/service/http/endpoints/fields/start-fields.ts'
import type { Rule } from '../../../../src/shared/access/caller.ts'
import { POLICY_START_OPTIONS } from '../../../../src/shared/access/policy-verbs.ts'
import {
  type Policy,
  type PolicyDocument,
  type PolicyNames,
  parsePolicy,
} from '../../../../src/shared/config/policy.ts'

const HASH = `sha256:${'0a'.repeat(32)}`
const OTHER_HASH = `sha256:${'1b'.repeat(32)}`
const MAIN = {
  issuer: 'https://login.example.com/',
  audience: 'portico',
  jwksUrl: 'https://login.example.com/.well-known/jwks.json',
}
const ci = { name: 'ci', who: { token: HASH }, can: ['start'] }
const users = { name: 'users', who: { jwt: 'main' }, can: ['read'] }

function policyOf(value: unknown, names?: PolicyNames): Policy {
  const parsed = parsePolicy(value, names)
  if ('issues' in parsed) throw new Error(parsed.issues.join('\n'))
  return parsed.policy
}

function issuesOf(value: unknown, names?: PolicyNames): string[] {
  const parsed = parsePolicy(value, names)
  return 'issues' in parsed ? parsed.issues : []
}

/** The issues of a policy with this rule, which needs only the keys that matter. */
function issuesOfRule(rule: object, names?: PolicyNames): string[] {
  return issuesOf({ version: 1, issuers: { main: MAIN }, rules: [{ ...users, ...rule }] }, names)
}

function warningsOf(value: PolicyDocument): string[] {
  const parsed = parsePolicy(value)
  return 'issues' in parsed ? parsed.issues : parsed.warnings
}

test('parsePolicy: hashes become lower-case digits, single values arrays, and the rules are rules of the domain', () => {
  const { issuers, rules } = policyOf({
    version: 1,
    issuers: { main: MAIN },
    rules: [
      { ...ci, who: { token: [HASH.toUpperCase().replace('SHA256', 'sha256'), OTHER_HASH] } },
      {
        ...users,
        who: {
          jwt: 'main',
          claims: { '/realm_access/roles': 'support', org: ['a', 'b'], verified: true, level: [1, 2] },
        },
      },
      { ...users, name: 'all', limits: { perSecond: 0.5, burst: 2, inFlight: 3, waits: 4 }, options: ['*'] },
    ],
    hooks: {},
  })

  expect(issuers.main).toEqual({ ...MAIN, audience: ['portico'] })
  expect((rules satisfies Rule[]).map(({ who }) => who)).toEqual([
    { token: ['0a'.repeat(32), '1b'.repeat(32)] },
    {
      jwt: 'main',
      claims: { '/realm_access/roles': ['support'], org: ['a', 'b'], verified: ['true'], level: ['1', '2'] },
    },
    { jwt: 'main', claims: {} },
  ])
})

test('parsePolicy: lists all mistakes at once, each with its place (threat 36)', () => {
  const issues = issuesOf({
    version: 2,
    issuer: {},
    issuers: { main: { ...MAIN, jwksUrl: 'http://login.example.com/', jwks: {} } },
    rules: [
      { ...ci, can: ['begin'], idz: [] },
      { ...ci, who: {}, can: [] },
      { who: { jwt: 'other' }, can: 'read' },
    ],
    hooks: { stripe: {} },
  })

  expect(issues.map((issue) => issue.split(' ')[0]).toSorted()).toEqual([
    '/hooks/stripe',
    '/hooks/stripe/scheme',
    '/hooks/stripe/secretEnv',
    '/issuer',
    '/issuers/main/jwks',
    '/issuers/main/jwksUrl',
    '/rules/0/can/0',
    '/rules/0/idz',
    '/rules/1/can',
    '/rules/1/name',
    '/rules/1/who',
    '/rules/2/can',
    '/rules/2/name',
    '/rules/2/who/jwt',
    '/version',
  ])
})

test('parsePolicy: a wrong name of an issuer or a claim hides no mistake in what has it', () => {
  const issues = issuesOf({
    version: 1,
    issuers: { main: MAIN, 'a b': { ...MAIN, issuer: '', jwksUrl: 'jwks' } },
    rules: [{ ...users, who: { jwt: 'main', claims: { '/~': '' } } }],
  })

  expect(issues.map((issue) => issue.split(' must ')[0]).toSorted()).toEqual([
    '/issuers/a b has a name that',
    '/issuers/a b/issuer',
    '/issuers/a b/jwksUrl',
    '/rules/0/who/claims/~1~0',
    '/rules/0/who/claims/~1~0 has a name that',
  ])
})

test('parsePolicy: a wrong value hides no mistake between it and another one', () => {
  const issuesOfWho = (who: object) => issuesOfRule({ who }).map((issue) => issue.replace('/rules/0/', ''))

  expect(issuesOfWho({ token: 'x', jwt: 'other', claims: { org: '' } })).toEqual([
    expect.stringMatching(/^who\/token must be "sha256:"/),
    'who/jwt must be a name of /issuers',
    'who/claims/org must not be empty',
    'who must contain either token or jwt',
  ])
  expect(issuesOfWho({ token: 'x', claims: {} })).toEqual([
    expect.stringMatching(/^who\/token must be "sha256:"/),
    'who must not contain claims, which only a JWT has, beside token',
  ])
  expect(issuesOfRule({ limits: { burst: 0.5 } })).toEqual([
    '/rules/0/limits/burst must be an integer above 0',
    '/rules/0/limits must contain perSecond, if it contains burst',
  ])
})

test('parsePolicy: a token that is pasted instead of its hash appears in no message (threat 95)', () => {
  const token = `ptc_${'s3cret-'.repeat(6)}`
  const issues = [token, token.replace('ptc_', '')].flatMap((secret) =>
    issuesOf(
      {
        version: secret,
        issuers: { [secret]: { issuer: MAIN.issuer, audience: secret }, main: { ...MAIN, jwksUrl: secret } },
        rules: [
          { name: `${secret}.`, who: { token: secret, [secret]: secret }, can: [secret] },
          { ...ci, who: { token: [secret] }, ids: [`{${secret}`, ''], options: [secret], [secret]: 1 },
          { ...users, who: { jwt: secret, claims: { [secret]: [] } }, namespaces: [secret], limits: { [secret]: 1 } },
          { ...users, name: 'x', who: secret },
          secret,
        ],
        hooks: { [secret]: secret },
      },
      { namespaces: ['default'] },
    ),
  )

  expect(issues.length).toBeGreaterThan(30)
  expect(issues.join('\n')).not.toContain('s3cret')
})

test.for<[sentence: string, rule: object, issue: string]>([
  ['a verb that does not exist', { can: ['begin'] }, '/rules/0/can/0 must be "*" or one of start, read'],
  ['a handler of a verb without handlers', { can: ['start:x'] }, '/rules/0/can/0 must be "*" or one of start'],
  ['a handler without a name', { can: ['signal:'] }, '/rules/0/can/0 must not be empty'],
  ['a wildcard for verbs', { can: ['st*'] }, '/rules/0/can/0 must be "*" or one of start'],
  ['a wildcard inside a pattern', { workflows: ['or*er'] }, '/rules/0/workflows/0 must not contain "*" except'],
  ['two wildcards', { ids: ['u:**'] }, '/rules/0/ids/0 must not contain "*" except at its end'],
  ['an empty pattern', { catalogs: [''] }, '/rules/0/catalogs/0 must not be empty'],
  ['an empty list of ids', { ids: [] }, '/rules/0/ids must not be an empty array'],
  ['a wildcard after a placeholder', { ids: ['u:{sub}*'] }, '/rules/0/ids/0 must have nothing or a delimiter'],
  ['a letter after a placeholder', { ids: ['{sub}x:*'] }, '/rules/0/ids/0 must have nothing or a delimiter'],
  ['a character of claims after a placeholder', { ids: ['{sub}-*'] }, '/rules/0/ids/0 must have nothing or a delim'],
  ['a placeholder after a placeholder', { ids: ['{org}{sub}'] }, '/rules/0/ids/0 must have nothing or a delimiter'],
  ['a placeholder without an end', { ids: ['u:{sub'] }, '/rules/0/ids/0 must contain { and } only around'],
  ['a placeholder without a name', { ids: ['u:{}'] }, '/rules/0/ids/0 has a placeholder whose claim must not be empty'],
  ['a wrong pointer', { ids: ['u:{/a~2}'] }, '/rules/0/ids/0 has a placeholder whose claim must be a JSON Pointer'],
  ['a placeholder in a name', { workflows: ['{sub}'] }, '/rules/0/workflows/0 must not contain { or }'],
  ['a placeholder in a handler', { can: ['signal:{sub}'] }, '/rules/0/can/0 must not contain { or }'],
  ['a placeholder for a token', { who: { token: HASH }, ids: ['{sub}'] }, '/rules/0/ids/0 must not contain a placeh'],
  ['an unknown issuer', { who: { jwt: 'other' } }, '/rules/0/who/jwt must be a name of /issuers'],
  ['a token and a JWT', { who: { jwt: 'main', token: HASH } }, '/rules/0/who must contain either token or jwt'],
  ['neither a token nor a JWT', { who: {} }, '/rules/0/who must contain either token or jwt'],
  ['claims of a token', { who: { token: HASH, claims: {} } }, '/rules/0/who must not contain claims'],
  ['no tokens', { who: { token: [] } }, '/rules/0/who/token must not be an empty array'],
  ['a hash without its name', { who: { token: HASH.slice(7) } }, '/rules/0/who/token must be "sha256:"'],
  ['a hash that is too short', { who: { token: [HASH.slice(0, -1)] } }, '/rules/0/who/token/0 must be "sha256:"'],
  [
    'a claim that is an object',
    { who: { jwt: 'main', claims: { a: {} } } },
    '/rules/0/who/claims/a must be a string, a number or a boolean',
  ],
  ['a claim without values', { who: { jwt: 'main', claims: { a: [] } } }, '/rules/0/who/claims/a must not be an empty'],
  ['a claim without a name', { who: { jwt: 'main', claims: { '': 'x' } } }, '/rules/0/who/claims/ has a name that'],
  [
    'a claim that JavaScript would ignore',
    { who: { jwt: 'main', claims: JSON.parse('{"__proto__":"x"}') } },
    '/rules/0/who/claims/__proto__ is not a valid key',
  ],
  ['a start option that does not exist', { options: ['workflowId'] }, '/rules/0/options/0 must be "*" or one of memo'],
  ['a rate of 0', { limits: { perSecond: 0 } }, '/rules/0/limits/perSecond must be above 0'],
  ['a fraction of a request', { limits: { waits: 1.5 } }, '/rules/0/limits/waits must be an integer above 0'],
  ['a burst without a rate', { limits: { burst: 3 } }, '/rules/0/limits must contain perSecond'],
  ['an unknown limit', { limits: { perMinute: 3 } }, '/rules/0/limits/perMinute is not a known key'],
  ['a name with a space', { name: 'a b' }, '/rules/0/name must be 1 to 64 letters'],
  ['a long name', { name: 'x'.repeat(65) }, '/rules/0/name must be 1 to 64 letters'],
  ['the name of denials', { name: 'none' }, '/rules/0/name must not be "none"'],
])('parsePolicy: rejects %s (threat 36)', ([, rule, issue]) => {
  expect(issuesOfRule(rule)).toEqual([expect.stringContaining(issue)])
})

test('parsePolicy: accepts a placeholder at the end or before a delimiter (threat 24)', () => {
  const ids = ['{sub}', 'u:{sub}:*', '{/org/id}/{sub}|*', '{https://example.com/tenant}:x', '*', 'exact']

  expect(issuesOfRule({ ids })).toEqual([])
})

test('parsePolicy: accepts handlers and beginnings of them', () => {
  expect(issuesOfRule({ can: ['*', 'signal', 'signal:app*', 'update:a:b', 'query:*'] })).toEqual([])
})

test('parsePolicy: rules name namespaces of the configuration (threat 36)', () => {
  const names = { namespaces: ['default', 'acme'] }

  expect(issuesOfRule({ namespaces: ['acme', 'default'] }, names)).toEqual([])
  expect(issuesOfRule({ namespaces: ['acme', 'other', '*'] }, names)).toEqual([
    '/rules/0/namespaces/1 must be a namespace of this service',
    '/rules/0/namespaces/2 must be a namespace of this service',
  ])
  expect(issuesOfRule({ namespaces: ['other'] })).toEqual([])
})

test('parsePolicy: names of rules, and URLs of issuers, are unique (threat 36)', () => {
  expect(issuesOf({ version: 1, issuers: { main: MAIN, twin: MAIN }, rules: [ci, users, ci, ci] })).toEqual([
    '/rules/2/name must differ from /rules/0/name',
    '/rules/3/name must differ from /rules/0/name',
    '/issuers/twin/issuer must differ from /issuers/main/issuer',
  ])
})

test('parsePolicy: keys are fetched with https, or with http from this machine (threat 36)', () => {
  const issuesOfUrl = (jwksUrl: string) => issuesOf({ version: 1, issuers: { main: { ...MAIN, jwksUrl } }, rules: [] })
  const urls = ['https://a.example/jwks?x=1', 'http://localhost:1/', 'http://127.0.0.1:1/', 'http://[::1]:1/jwks']
  const wrong = [
    'http://a.example/',
    'http://127.0.0.1.a.example/',
    'https://u@a.example/',
    'https://:p@a.example/',
    'https://a.example/#x',
    'file:///jwks',
    'jwks',
  ]

  expect(urls.flatMap(issuesOfUrl)).toEqual([])
  expect(wrong.map(issuesOfUrl)).toEqual(
    wrong.map(() => [expect.stringMatching(/^\/issuers\/main\/jwksUrl must be a URL/)]),
  )
})

test('parsePolicy: a document that is no policy', () => {
  expect([null, 'x', [], 7].map((value) => issuesOf(value))).toEqual(Array(4).fill(['must be an object']))
  expect(issuesOf({})).toEqual(['/version must be 1', '/rules is required, unless there are hooks'])
  expect(issuesOf({ version: 1, rules: [], hooks: [] })).toEqual(['/hooks must be a record'])
})

test('parsePolicy: warns of ids that a database may confuse with others (threat 24)', () => {
  const rules = [{ ...users, ids: ['u:{Sub}:*', 'Acme:*', 'müller:*', 'acme:*'], workflows: ['Order'] }]

  expect(warningsOf({ version: 1, issuers: { main: MAIN }, rules })).toEqual([
    expect.stringMatching(/^\/rules\/0\/ids\/1 has upper-case or non-ASCII letters/),
    expect.stringMatching(/^\/rules\/0\/ids\/2 has upper-case or non-ASCII letters/),
  ])
})

test('parsePolicy: knows the options of start requests', () => {
  expect(POLICY_START_OPTIONS).toEqual(Object.keys(optionFields))
})
