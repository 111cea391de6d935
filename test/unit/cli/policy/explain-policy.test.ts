import { expect, test } from 'vitest'
import { explainPolicy } from '../../../../src/cli/policy/explain-policy.ts'
import { type QuestionFlags, readQuestion } from '../../../../src/cli/policy/question.ts'
import { parsePolicy } from '../../../../src/shared/config/policy.ts'

const parsed = parsePolicy({
  version: 1,
  issuers: {
    main: { issuer: 'https://a/', audience: 'x', jwksUrl: 'https://a/' },
    other: { issuer: 'https://b/', audience: 'x', jwksUrl: 'https://b/' },
  },
  rules: [
    { name: 'ci', who: { token: `sha256:${'0a'.repeat(32)}` }, can: ['start'], workflows: ['deploy*'] },
    { name: 'users', who: { jwt: 'main' }, can: ['read', 'signal:app*'], ids: ['u:{sub}:*'] },
    { name: 'support', who: { jwt: 'main', claims: { '/realm/roles': ['support', 'admin'] } }, can: ['read', 'list'] },
    {
      name: 'acme',
      who: { jwt: 'main', claims: { org: 'acme' } },
      can: ['*'],
      ids: ['{team}:*'],
      namespaces: ['acme'],
    },
    { name: 'others', who: { jwt: 'other' }, can: ['start'], catalogs: ['x'], options: ['memo'] },
  ],
})
if ('issues' in parsed) throw new Error(parsed.issues.join('\n'))
const { policy } = parsed

function explain(action: string, flags: QuestionFlags, env: Record<string, string> = {}) {
  const { rules, ...explanation } = explainPolicy(policy.rules, readQuestion(policy, action, flags, env))
  return { ...explanation, why: Object.fromEntries(rules.map(({ rule, result, reason }) => [rule, reason ?? result])) }
}

test('explainPolicy: names the rule that allows the action, and says why the others do not', () => {
  expect(explain('signal:approve', { as: 'jwt:main', claim: ['sub=Ada', 'org=acme'], id: 'u:~41da:1' })).toEqual({
    caller: 'jwt:main:~41da',
    action: 'signal:approve',
    verdict: 'allowed',
    rule: 'users',
    why: {
      ci: 'it is for tokens',
      users: 'allows',
      support: 'the claim /realm/roles must be or contain support or admin',
      acme: 'the id {team}:* needs a claim that is a string or an integer, and not empty',
      others: 'it is for JWTs of the issuer other',
    },
  })
})

test('explainPolicy: says which part of a rule rejects', () => {
  const user = { as: 'jwt:main', claim: ['sub=ada', 'org=acme', 'team=1', '/realm/roles=x', '/realm/roles=admin'] }
  const other = { as: 'jwt:other', claim: ['sub=ada'] }

  expect(explain('read', { ...user, id: 'x' }).why).toMatchObject({
    users: 'the workflow id must match u:ada:*',
    support: 'allows',
    acme: 'the namespace must be acme',
  })
  expect(explain('stop', user)).toMatchObject({
    verdict: 'denied',
    rule: null,
    why: { users: 'it can only read, signal:app*', support: 'it can only read, list' },
  })
  expect(explain('start', { as: 'token:ci', workflow: 'order' }).why.ci).toBe('the workflow must be deploy*')
  expect(explain('start', { as: 'token:ci', option: ['memo'] }).why.ci).toBe('it allows no options')
  expect(explain('start', { as: 'token:ci', catalog: 'a' }).why.ci).toMatch(/^it is for the default catalog only/)
  expect(explain('start', { as: 'token:ci', namespace: 'a' }).why.ci).toMatch(/^it is for the default namespace only/)
  expect(explain('start', { ...other, catalog: 'y' }).why.others).toBe('the catalog must be x')
  expect(explain('start', { ...other, option: ['retry'] }).why.others).toBe('it allows only the options memo')
})

test('explainPolicy: the default catalog and namespace are those of the environment', () => {
  const env = { SERVICE_CATALOG_ID: 'orders', ENGINE_NAMESPACE: 'acme' }
  const named = { as: 'token:ci', catalog: 'orders', namespace: 'acme' }

  expect([explain('start', named, env).verdict, explain('start', named).verdict]).toEqual(['allowed', 'denied'])
})

test.for<[sentence: string, action: string, flags: QuestionFlags, message: string]>([
  ['a verb that does not exist', 'run', { as: 'token:ci' }, 'the action must be one of start, read'],
  ['a handler of a verb without handlers', 'start:x', { as: 'token:ci' }, 'the action must be one of'],
  ['a handler without a name', 'signal:', { as: 'token:ci' }, 'the action must be one of'],
  ['a caller of another kind', 'read', { as: 'ci' }, '--as must be token:<name of a rule> or jwt:<name of an issuer>'],
  ['a rule without tokens', 'read', { as: 'token:users' }, '--as token:users: the policy has no rule'],
  ['an unknown issuer', 'read', { as: 'jwt:x' }, 'has no issuer of this name; there are main, other'],
  ['an issuer named like a method', 'read', { as: 'jwt:toString' }, 'has no issuer of this name'],
  ['a JWT without a subject', 'read', { as: 'jwt:main' }, '--claim sub=<value> is required'],
  ['a claim without a value', 'read', { as: 'jwt:main', claim: ['sub'] }, 'must have the form <name>=<value>'],
  ['claims of a token', 'read', { as: 'token:ci', claim: ['sub=x'] }, 'a token has no claims'],
  ['an unknown option', 'start', { as: 'token:ci', option: ['x'] }, '--option x: must be one of memo'],
])('readQuestion: rejects %s', ([, action, flags, message]) => {
  expect(() => readQuestion(policy, action, flags, {})).toThrow(message)
})
