import { expect, test } from 'vitest'
import { parsePolicy } from '../../../src/config/policy.ts'
import { ConfigError, parseConfig, withPolicy } from '../../../src/config.ts'

const SECRETS = { SERVICE_HOOK_A: 's3cret', SERVICE_HOOK_BASE64: 'whsec_b2xk', SERVICE_HOOK_BROKEN: 'whsec_s3cret!' }
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
  ['another scheme', { scheme: 'paypal' }, 'h/scheme must be one of standard, stripe, github, slack, token'],
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
])('a hook with a mistake: %s', (_, changed, issue) => {
  const hook = JSON.parse(JSON.stringify({ ...HOOK, ...changed }))

  expect(issuesOf(hook)).toEqual([expect.stringContaining(`/hooks/${issue}`)])
})

test('all mistakes of all hooks are listed at once, and none shows a value that may be a secret', () => {
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

test('parseConfig: reads the variables of hooks, and nothing else for them', () => {
  const policy = JSON.stringify({ version: 1, hooks: { h: HOOK } })

  const { access, warnings } = parseConfig({ ...ENV, SERVICE_POLICY: policy }, { binds: true })

  expect(access.hookSecrets).toEqual({ SERVICE_HOOK_A: 's3cret' })
  expect(warnings).toEqual([])
})

test('withPolicy: a hook can name the variables of the configuration only', () => {
  const config = parseConfig(ENV, { binds: true })
  const withHook = (secretEnv: string) => withPolicy(config, { version: 1, hooks: { h: { ...HOOK, secretEnv } } })

  expect(Object.keys(withHook('SERVICE_HOOK_A').access.policy?.hooks ?? {})).toEqual(['h'])
  expect(() => withHook('SERVICE_HOOK_B')).toThrow(ConfigError)
})
