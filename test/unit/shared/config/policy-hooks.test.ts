import { expect, test } from 'vitest'
import { parsePolicy } from '../../../../src/shared/config/policy.ts'
import { ConfigError, parseConfig, withPolicy } from '../../../../src/shared/config.ts'
import { SCHEME_NAMES } from '../../../../src/shared/hooks/hook-schemes.ts'
import { CHALLENGES } from '../../../../src/shared/hooks/presets.ts'

const SECRETS = {
  SERVICE_HOOK_A: 's3cret',
  SERVICE_HOOK_BASE64: 'whsec_b2xk',
  SERVICE_HOOK_BROKEN: 'whsec_s3cret!',
  SERVICE_HOOK_PUBLIC: 'v1,whpk_b2xk',
}

const OBJECT = {
  hmac: 'sha512',
  signature: { header: 'X-Sig', key: 'v1', separator: ';', prefix: 'a=', encoding: 'base64' },
  signed: '{id}.{timestamp}.{url}.{body}',
  timestamp: { header: 'X-Time', unit: 'iso', toleranceSeconds: 60 },
  id: { header: 'X-Id' },
  headers: ['X-Topic'],
  forms: true,
}

/** The mistake of an object with these changes. */
const inObject = (changed: object) => ({ scheme: { ...OBJECT, ...changed } })
const START = { workflowName: 'order' }
const HOOK = { scheme: 'stripe', secretEnv: 'SERVICE_HOOK_A', start: START }

function issuesOf(hook: unknown, name = 'h'): string[] {
  const parsed = parsePolicy({ version: 1, hooks: { [name]: hook } }, { namespaces: null, hookSecrets: SECRETS })
  return 'issues' in parsed ? parsed.issues : []
}

test('a policy can consist of hooks alone', () => {
  expect(parsePolicy({ version: 1, hooks: { h: HOOK } }, { namespaces: null, hookSecrets: SECRETS })).toEqual({
    policy: {
      version: 1,
      issuers: {},
      rules: [],
      hooks: { h: { scheme: 'stripe', secretEnv: ['SERVICE_HOOK_A'], argument: 'event', start: START } },
    },
    warnings: [],
  })
})

test('each scheme and each action is valid', () => {
  const valid = [
    { ...HOOK, scheme: 'standard', secretEnv: ['SERVICE_HOOK_A', 'SERVICE_HOOK_BASE64'] },
    // Only the scheme standard decodes it.
    { ...HOOK, secretEnv: ['SERVICE_HOOK_BROKEN'] },
    { ...HOOK, scheme: 'token', header: 'X-Gitlab-Token', argument: 'body' },
    { ...HOOK, scheme: 'token', id: { header: 'Idempotency-Key' }, headers: ['X-Gitlab-Event'] },
    { ...HOOK, scheme: 'token', id: { body: '/id' } },
    ...SCHEME_NAMES.map((scheme) => ({ ...HOOK, scheme })),
    { ...HOOK, scheme: OBJECT },
    { ...HOOK, scheme: { signature: { header: 'X-Sig' } } },
    {
      ...HOOK,
      scheme: { signature: { header: 'X-Sig' }, timestamp: { body: '/time', unit: 'ms' }, id: { body: '/id' } },
    },
    { ...HOOK, when: { 'X-Event': 'push', '/action': ['opened', 'closed'] } },
    ...CHALLENGES.map((challenge) => ({
      ...HOOK,
      challenge,
      ...(challenge === 'hub' && { verifyTokenEnv: 'SERVICE_HOOK_A' }),
    })),
    { ...HOOK, start: { ...START, workflowId: 'order:{/data/object/id}', catalog: 'orders' } },
    { ...HOOK, scheme: 'github', start: undefined, signal: { workflowId: 'repo:{/repository/id}', name: 'push' } },
    { ...HOOK, scheme: 'slack', start: undefined, signal: { workflowId: 'one', name: 'event' } },
    { ...HOOK, start: undefined, complete: { workflowId: 'order:{/id}', activityId: 'charge' } },
    { ...HOOK, start: undefined, complete: { workflowId: 'order', activityId: 'charge:{/no}' } },
    { ...HOOK, start: undefined, signalWithStart: { start: START, signal: { name: 'event' } } },
  ].map((hook) => JSON.parse(JSON.stringify(hook)))

  expect(valid.flatMap((hook) => issuesOf(hook))).toEqual([])
})

test.each([
  [
    'another scheme',
    { scheme: 'paypal' },
    'h/scheme must be an object, or one of standard, stripe, github, slack, shopify, linear,',
  ],
  ['no secret', { secretEnv: [] }, 'h/secretEnv must not be an empty array'],
  ['a secret itself', { secretEnv: 'whsec_s3cret' }, 'h/secretEnv must be the name of a variable that begins with'],
  ['another variable', { secretEnv: ['SERVICE_HOOK_A', 'ENGINE_API_KEY'] }, 'h/secretEnv/1 must be the name of a var'],
  ['an unset variable', { secretEnv: 'SERVICE_HOOK_B' }, 'h/secretEnv names a variable that is not set'],
  ['an inherited name', { secretEnv: 'SERVICE_HOOK_toString' }, 'h/secretEnv names a variable that is not set'],
  [
    'a secret that is not base64',
    { scheme: 'standard', secretEnv: 'SERVICE_HOOK_BROKEN' },
    'h/secretEnv names a variable whose value is not base64 after whsec_',
  ],
  [
    'a public key',
    { scheme: 'standard', secretEnv: 'SERVICE_HOOK_PUBLIC' },
    'h/secretEnv names a variable with a public key (whpk_)',
  ],
  ['a number as scheme', { scheme: 7 }, 'h/scheme must be a string or an object'],
  ['an object without a signature', { scheme: {} }, 'h/scheme/signature is required'],
  ['another hash', inObject({ hmac: 'md5' }), 'h/scheme/hmac must be sha1, sha256 or sha512'],
  ['an unknown key', inObject({ secret: 'x' }), 'h/scheme/secret is not a known key'],
  [
    'a wrong header',
    inObject({ signature: { header: 'a b' } }),
    'h/scheme/signature/header must be the name of a header',
  ],
  ['no body', inObject({ signed: '{id}.{timestamp}' }), 'h/scheme/signed must contain {body} once'],
  ['the body twice', inObject({ signed: '{body}{timestamp}{body}' }), 'h/scheme/signed must contain {body} once'],
  ['another placeholder', inObject({ signed: '{timestamp}{body}{secret}' }), 'h/scheme/signed must contain no placeh'],
  [
    'a time that is not signed',
    inObject({ signed: '{id}{body}' }),
    'h/scheme/signed must contain {timestamp}: anybody',
  ],
  ['a signed time without a header', inObject({ timestamp: { body: '/t' } }), 'h/scheme/timestamp must name a header'],
  ['a signed id without a header', inObject({ id: { body: '/id' } }), 'h/scheme/id must name a header, because signed'],
  ['two places', inObject({ id: { header: 'X-Id', body: '/id' } }), 'h/scheme/id must contain either header or body'],
  [
    'no pointer',
    { scheme: 'token', id: { body: 'id' } },
    'h/id/body must be a JSON Pointer into the body, such as /id',
  ],
  [
    'the signature for workers',
    inObject({ headers: ['x-sig'] }),
    'h/scheme/headers must not contain the header of the',
  ],
  [
    'a credential for workers',
    inObject({ headers: ['Cookie'] }),
    'h/scheme/headers/0 must not be a header with a cred',
  ],
  [
    'an id of a scheme that signs',
    { id: { header: 'X-Id' } },
    'h/id must not exist: only the scheme token has id here',
  ],
  ['headers of a scheme that signs', { headers: ['X-Id'] }, 'h/headers must not exist: only the scheme token has'],
  ['a wrong name in when', { when: { 'a b': 'c' } }, 'h/when/a b has a name that must be that of a header'],
  ['a wrong pointer in when', { when: { '/~': 'c' } }, 'h/when/~1~0 has a name that must be a JSON Pointer'],
  ['no value in when', { when: { '/a': [] } }, 'h/when/~1a must not be an empty array'],
  ['another challenge', { challenge: 'trello' }, 'h/challenge must be one of hub, query, okta'],
  ['hub without its token', { challenge: 'hub' }, 'h/verifyTokenEnv must name a variable if challenge is hub'],
  ['a verify token of no hub', { verifyTokenEnv: 'SERVICE_HOOK_A' }, 'h/verifyTokenEnv must name a variable if'],
  [
    'an unset verify token',
    { challenge: 'hub', verifyTokenEnv: 'SERVICE_HOOK_B' },
    'h/verifyTokenEnv names a variable',
  ],
  ['a header of a scheme that signs', { header: 'X-Token' }, 'h/header must not exist: only the scheme token'],
  ['a wrong header', { scheme: 'token', header: 'a b' }, 'h/header must be the name of a header'],
  ['another argument', { argument: 'raw' }, 'h/argument must be event or body'],
  ['no action', { start: undefined }, 'h must contain one of start, signal, signalWithStart, complete'],
  ['two actions', { signal: { workflowId: 'w', name: 's' } }, 'h must contain one of start, signal, signalWithStart'],
  ['an action too many', { complete: { workflowId: 'w', activityId: 'a' } }, 'h must contain one of start, signal'],
  [
    'an activity without an id',
    { start: undefined, complete: { workflowId: 'w' } },
    'h/complete/activityId is required',
  ],
  [
    'the claim of a token in the id of an activity',
    { start: undefined, complete: { workflowId: 'w', activityId: '{sub}' } },
    'h/complete/activityId must contain only JSON Pointers into the body as placeholders',
  ],
  ['options', { start: { ...START, memo: {} } }, 'h/start/memo is not a known key'],
  ['a reserved workflow', { start: { workflowName: '$x' } }, 'h/start/workflowName must not start with "$"'],
  ['one id for all events', { start: { ...START, workflowId: 'order' } }, 'h/start/workflowId must have a placeholder'],
  ['a claim', { start: { ...START, workflowId: '{id}' } }, 'h/start/workflowId must contain only JSON Pointers'],
  ['a wildcard', { start: { ...START, workflowId: '{/id}:*' } }, 'h/start/workflowId must not contain "*"'],
  [
    'a letter after a placeholder',
    { start: { ...START, workflowId: '{/id}x' } },
    'h/start/workflowId must have nothing',
  ],
  ['a wrong pointer', { start: { ...START, workflowId: '{/~2}' } }, 'h/start/workflowId has a placeholder whose claim'],
  ['a reserved id', { start: { ...START, workflowId: '$x:{/id}' } }, 'h/start/workflowId must not start with "$"'],
  [
    'an id of the engine',
    { start: { ...START, workflowId: 'temporal-sys-{/id}' } },
    'h/start/workflowId must not start with "temporal-sys-"',
  ],
])('a hook with a mistake: %s (threat 71)', (_, changed, issue) => {
  const hook = JSON.parse(JSON.stringify({ ...HOOK, ...changed }))

  expect(issuesOf(hook)).toEqual([expect.stringContaining(`/hooks/${issue}`)])
})

test('all mistakes of all hooks are listed at once, and none shows a value that may be a secret (threat 72)', () => {
  const s3cret = 'whsec_s3cret'
  const parsed = parsePolicy(
    {
      version: 1,
      hooks: {
        'a b': { ...HOOK, scheme: s3cret, secretEnv: [s3cret], header: s3cret, argument: s3cret },
        other: { start: { workflowId: s3cret }, signal: { name: '' } },
        [s3cret]: s3cret,
      },
    },
    { namespaces: null, hookSecrets: { ...SECRETS, SERVICE_HOOK_A: ' s3cret' } },
  )

  const issues = 'issues' in parsed ? parsed.issues : []
  expect(issues.map((issue) => issue.split(' must ')[0])).toEqual(
    expect.arrayContaining(['/hooks/a b has a name that', '/hooks/a b/scheme', '/hooks/other/start/workflowId']),
  )
  expect(issues.length).toBeGreaterThan(8)
  expect(issues.join('\n')).not.toContain('s3cret')
})

const ENV = { SERVICE_CATALOG_ID: 'orders', SERVICE_HOOK_A: 's3cret', ENGINE_API_KEY: 'k' }

test('parseConfig: reads the variables of hooks, and nothing else for them (threat 71)', () => {
  const policy = JSON.stringify({ version: 1, hooks: { h: HOOK } })

  const { access, warnings } = parseConfig({ ...ENV, SERVICE_POLICY: policy }, { binds: true })

  expect(access.hookSecrets).toEqual({ SERVICE_HOOK_A: 's3cret' })
  expect(warnings).toEqual([])
})

test('withPolicy: a hook can name the variables of the configuration only (threat 71)', () => {
  const config = parseConfig(ENV, { binds: true })
  const withHook = (secretEnv: string) => withPolicy(config, { version: 1, hooks: { h: { ...HOOK, secretEnv } } })

  expect(Object.keys(withHook('SERVICE_HOOK_A').access.policy?.hooks ?? {})).toEqual(['h'])
  expect(() => withHook('SERVICE_HOOK_B')).toThrow(ConfigError)
})

test('all mistakes of a hook are reported at once', () => {
  const scheme = { signature: { header: 'a b', encoding: 'hexa' }, signed: '{id}', timestamp: {}, id: {}, extra: 1 }

  const issues = issuesOf({
    scheme,
    secretEnv: 'ENGINE_API_KEY',
    challenge: 'x',
    when: { '/a': 1 },
    id: { header: 'X' },
  })

  const places = issues.map((issue) => issue.split(' ')[0]?.replace('/hooks/h', ''))
  expect(new Set(places)).toEqual(
    new Set([
      '/scheme/signature/header',
      '/scheme/signature/encoding',
      '/scheme/signed',
      '/scheme/timestamp',
      '/scheme/id',
      '/scheme/extra',
      '/secretEnv',
      '/challenge',
      '/when/~1a',
      '/id',
      '',
    ]),
  )
})
