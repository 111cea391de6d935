import { expect, test } from 'vitest'
import type { ReadFile, WebhookEndpoint } from '../../../../src/shared/config/webhooks.ts'
import { parseWebhookEndpoints, parseWorkerConfig } from '../../../../src/shared/config/worker.ts'
import { issuesFrom } from './parsed.ts'

const BYTES = new Uint8Array(32).fill(7)
const SECRET = `whsec_${Buffer.from(BYTES).toString('base64')}`
const PLAIN = { url: 'https://billing.example/hooks', secretEnv: ['SERVICE_WEBHOOK_BILLING'] }

const missing: ReadFile = () => ({ error: 'ENOENT' })

function envOf(endpoints: unknown, more: Record<string, string> = {}): Record<string, string> {
  const document = { version: 1, endpoints }
  return { SERVICE_WEBHOOKS: JSON.stringify(document), SERVICE_WEBHOOK_BILLING: SECRET, ...more }
}

function endpointsOf(env: Record<string, string>, readFile = missing): readonly WebhookEndpoint[] {
  return parseWebhookEndpoints(env, readFile)
}

function issuesOf(env: Record<string, string>, readFile = missing): readonly string[] {
  return issuesFrom(() => parseWebhookEndpoints(env, readFile))
}

test('parseWebhookEndpoints: an endpoint gets each end of each workflow, without values, unless it says otherwise (threat 74)', () => {
  const endpoint = { ...PLAIN, workflows: ['order*'], on: ['failed'], include: ['output'] }

  expect(endpointsOf(envOf({ billing: PLAIN, other: endpoint }))).toEqual([
    {
      name: 'billing',
      url: PLAIN.url,
      secrets: [BYTES],
      workflows: ['*'],
      on: ['completed', 'failed', 'canceled', 'terminated', 'timed_out'],
      include: [],
    },
    { name: 'other', url: PLAIN.url, secrets: [BYTES], workflows: ['order*'], on: ['failed'], include: ['output'] },
  ])
})

test('parseWebhookEndpoints: without a document there are no endpoints', () => {
  expect(endpointsOf({})).toEqual([])
})

test('parseWebhookEndpoints: reads a file, and not beside the other variable', () => {
  const { SERVICE_WEBHOOKS: text = '', ...secrets } = envOf({ billing: PLAIN })
  const env = { ...secrets, SERVICE_WEBHOOKS_FILE: '/etc/webhooks.json' }

  expect(endpointsOf(env, (path) => (path === env.SERVICE_WEBHOOKS_FILE ? { text } : { error: path }))).toHaveLength(1)
  expect(issuesOf(env)).toEqual(['SERVICE_WEBHOOKS_FILE names a file that cannot be read (ENOENT)'])
  expect(issuesOf({ ...env, SERVICE_WEBHOOKS: text }, () => ({ text }))).toEqual([
    'SERVICE_WEBHOOKS and SERVICE_WEBHOOKS_FILE must not be set together',
  ])
})

test('parseWebhookEndpoints: reports all mistakes, each with its place', () => {
  const env = envOf(
    {
      'bad name': PLAIN,
      a: { url: 'http://billing.example', secretEnv: [], workflows: ['a*b'], on: ['continued'], include: ['input'] },
      b: { ...PLAIN, headers: {}, secretEnv: ['SERVICE_API_AUTH_TOKEN'] },
      c: 1,
    },
    { SERVICE_API_AUTH_TOKEN: 'secret' },
  )

  expect(issuesOf(env).toSorted()).toEqual([
    'SERVICE_WEBHOOKS /endpoints/a/include/0 must be output or error',
    'SERVICE_WEBHOOKS /endpoints/a/on/0 must be one of completed, failed, canceled, terminated, timed_out, problem',
    'SERVICE_WEBHOOKS /endpoints/a/secretEnv must not be an empty array',
    'SERVICE_WEBHOOKS /endpoints/a/url must be a URL that begins with https:// (http:// only on loopback), without user, password and fragment',
    'SERVICE_WEBHOOKS /endpoints/a/workflows/0 must not contain "*" except at its end',
    'SERVICE_WEBHOOKS /endpoints/b/headers is not a known key',
    'SERVICE_WEBHOOKS /endpoints/b/secretEnv/0 must be the name of a variable that begins with SERVICE_WEBHOOK_',
    'SERVICE_WEBHOOKS /endpoints/bad name has a name that must be 1 to 64 letters, digits, "_" and "-"',
    'SERVICE_WEBHOOKS /endpoints/c must be an object',
  ])
})

test('parseWebhookEndpoints: reports secrets that are not set or not usable', () => {
  const secretEnv = [
    'SERVICE_WEBHOOK_UNSET',
    'SERVICE_WEBHOOK_BILLING',
    'SERVICE_WEBHOOK_SHORT',
    'SERVICE_WEBHOOK_TEXT',
  ]
  const env = envOf(
    { billing: { ...PLAIN, secretEnv } },
    { SERVICE_WEBHOOK_SHORT: 'whsec_c2hvcnQ=', SERVICE_WEBHOOK_TEXT: 'a secret of text' },
  )

  expect(issuesOf(env)).toEqual([
    'SERVICE_WEBHOOKS /endpoints/billing/secretEnv/0 names SERVICE_WEBHOOK_UNSET, which is not set',
    'SERVICE_WEBHOOK_SHORT must be "whsec_" and the base64 of 24 to 64 random bytes',
    'SERVICE_WEBHOOK_TEXT must be "whsec_" and the base64 of 24 to 64 random bytes',
  ])
})

test.each([
  ['as a value', { billing: { ...PLAIN, secretEnv: [SECRET] } }],
  ['as a key', { [SECRET]: PLAIN }],
  ['as a short key', { billing: { ...PLAIN, whsec_short: 1 } }],
  ['in a URL', { billing: { ...PLAIN, url: `https://user:${SECRET}@billing.example` } }],
  ['as a workflow', { billing: { ...PLAIN, workflows: [`*${SECRET}`] } }],
])('parseWebhookEndpoints: does not show a secret that stands %s (threat 74)', (_where, endpoints) => {
  const issues = issuesOf(envOf(endpoints))

  expect(issues).toHaveLength(1)
  expect(issues.join()).not.toContain('whsec_')
})

test.each([
  ['{"version":1', /^SERVICE_WEBHOOKS is not valid JSON: line 1, column 13$/],
  ['[]', /^SERVICE_WEBHOOKS must be an object$/],
  ['{"version":2,"endpoints":{}}', /^SERVICE_WEBHOOKS \/version must be 1$/],
  ['{"version":1}', /^SERVICE_WEBHOOKS \/endpoints is required$/],
  ['{"version":1,"endpoints":{"__proto__":{}}}', /^SERVICE_WEBHOOKS \/endpoints\/__proto__ is not a valid key$/],
])('parseWebhookEndpoints: %s is rejected', (text, message) => {
  expect(issuesOf({ SERVICE_WEBHOOKS: text })).toEqual([expect.stringMatching(message)])
})

test('parseWorkerConfig: knows the secrets that a document names, and warns about similar names', () => {
  const env = { ...envOf({ billing: PLAIN }), SERVICE_CATALOG_ID: 'shop', SERVICE_WEBHOOK_BILING: SECRET }

  expect(parseWorkerConfig(env, { catalogRequired: true }).warnings).toEqual([
    'SERVICE_WEBHOOK_BILING is not a Portico variable and has no effect; did you mean SERVICE_WEBHOOK_BILLING?',
  ])
})
