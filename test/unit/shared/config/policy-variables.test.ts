import { expect, test } from 'vitest'
import { ConfigError, parseConfig, withPolicy } from '../../../../src/shared/config.ts'
import { issuesFrom, issuesOf, parse, required } from './parsed.ts'

const RULE = { name: 'ci', who: { token: `sha256:${'0a'.repeat(32)}` }, can: ['start'] }
const DOCUMENT = { version: 1, rules: [RULE] } as const
const SERVICE_POLICY = JSON.stringify(DOCUMENT)
const file = { SERVICE_POLICY_FILE: '/etc/portico/policy.json' }

test('SERVICE_POLICY: counts as a token', () => {
  const { access, server } = parse({ SERVICE_POLICY })

  expect(access).toMatchObject({ tokens: null, loopbackOnly: false, policy: { rules: [{ name: 'ci' }] } })
  expect(server.host).toBe('0.0.0.0')
  expect(parse({ SERVICE_POLICY, SERVICE_HOST: '127.0.0.1' }).access.loopbackOnly).toBe(false)
  expect(issuesOf({ ...required, SERVICE_POLICY }, { binds: false })).toEqual([])
})

test('SERVICE_POLICY: stays in force with SERVICE_ALLOW_ANONYMOUS, and beside a token (threat 36)', () => {
  const policy = expect.objectContaining({ rules: [expect.objectContaining({ name: 'ci' })] })

  expect(parse({ SERVICE_POLICY, SERVICE_ALLOW_ANONYMOUS: 'true' }).access.policy).toEqual(policy)
  expect(parse({ SERVICE_POLICY, SERVICE_API_AUTH_TOKEN: 'x' }).access).toMatchObject({ tokens: ['x'], policy })
})

test('SERVICE_POLICY: its mistakes are reported together with all others', () => {
  const rules = [{ ...RULE, can: ['begin'] }, RULE, { ...RULE, namespaces: ['other'] }]

  expect(issuesOf({ SERVICE_PORT: 'x', SERVICE_POLICY: JSON.stringify({ rules }) }, { binds: false })).toEqual([
    expect.stringMatching(/^SERVICE_PORT /),
    'SERVICE_POLICY /version must be 1',
    expect.stringMatching(/^SERVICE_POLICY \/rules\/0\/can\/0 must be/),
    'SERVICE_POLICY /rules/2/namespaces/0 must be a namespace of this service',
    'SERVICE_POLICY /rules/1/name must differ from /rules/0/name',
    'SERVICE_POLICY /rules/2/name must differ from /rules/0/name',
    expect.stringMatching(/^SERVICE_CATALOG_ID is required/),
  ])
})

test('SERVICE_POLICY: a document that is not JSON is rejected without its text (threat 95)', () => {
  expect(issuesOf({ ...required, SERVICE_POLICY: '{\n "s3cret: 1}' })).toEqual([
    'SERVICE_POLICY is not valid JSON: line 2, column 13',
  ])
})

test('SERVICE_POLICY_FILE: the policy is the content that the runtime has read', () => {
  const policyFile = { text: SERVICE_POLICY }

  expect(parse(file, { binds: true, policyFile })).toMatchObject({
    access: { policy: { rules: [{ name: 'ci' }] }, loopbackOnly: false },
    server: { host: '0.0.0.0' },
  })
  expect(issuesOf({ ...required, ...file }, { binds: true, policyFile: { text: '[]' } })).toEqual([
    'SERVICE_POLICY_FILE must be an object',
  ])
})

test('SERVICE_POLICY_FILE: a file that cannot be read, and one that the runtime never reads, are errors (threat 36)', () => {
  const all = { ...required, ...file }

  expect(issuesOf(all, { binds: true, policyFile: { error: 'ENOENT' } })).toEqual([
    'SERVICE_POLICY_FILE names a file that cannot be read (ENOENT)',
  ])
  expect(issuesOf(all)).toEqual([expect.stringMatching(/^SERVICE_POLICY_FILE is read only by the service itself/)])
  expect(issuesOf({ ...all, ENGINE_HTTP_URL: 'https://engine' }, { binds: false, isolated: true })).toEqual([
    'SERVICE_POLICY_FILE is not available on workerd (no file system); use SERVICE_POLICY',
  ])
})

test('SERVICE_POLICY and SERVICE_POLICY_FILE exclude each other (threat 36)', () => {
  expect(issuesOf({ ...required, ...file, SERVICE_POLICY }, { binds: true, policyFile: { text: '{}' } })).toContain(
    'SERVICE_POLICY and SERVICE_POLICY_FILE must not be set together',
  )
})

test('SERVICE_AUDIT: effects with a policy, else off, unless it is set', () => {
  const audits = [{}, { SERVICE_POLICY }, { SERVICE_POLICY, SERVICE_AUDIT: 'off' }, { SERVICE_AUDIT: 'all' }]

  expect(audits.map((env) => parse(env).access.audit)).toEqual(['off', 'effects', 'off', 'all'])
  expect(issuesOf({ ...required, SERVICE_AUDIT: 'some' })).toEqual(['SERVICE_AUDIT must be off, effects or all'])
})

test('parseConfig: warns of doubtful parts of the policy', () => {
  const doubtful = JSON.stringify({ version: 1, rules: [{ ...RULE, ids: ['CI:*'] }] })

  expect(parse({ SERVICE_POLICY: doubtful }).warnings).toEqual([
    expect.stringMatching(/^SERVICE_POLICY \/rules\/0\/ids\/0 has upper-case/),
  ])
})

test('withPolicy: replaces the policy, with its own mistakes and warnings', () => {
  const config = parseConfig({ ...required, SERVICE_ALLOW_ANONYMOUS: 'true' }, { binds: false })
  const silent = parse({ SERVICE_AUDIT: 'off' })

  expect(withPolicy(config, DOCUMENT).access).toMatchObject({ audit: 'effects', policy: { rules: [{ name: 'ci' }] } })
  expect(withPolicy(silent, DOCUMENT).access).toMatchObject({ audit: 'off', loopbackOnly: false })
  expect(issuesFrom(() => withPolicy(config, { ...DOCUMENT, version: 2 }))).toEqual(['policy /version must be 1'])
  expect(() => withPolicy(config, 7)).toThrow(ConfigError)
})
