/** The libraries of senders of webhooks: what they sign is accepted, and they accept what we sign for them. */
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect } from 'vitest'
import { ensureComponent } from '../../src/cli/dev/servers/component.ts'
import type { PresetName } from '../../src/shared/hooks/presets.ts'
import { proofHeaders } from '../../src/shared/hooks/schemes.ts'
import { test as sharedTest } from '../support/fixtures.ts'
import { npmProject } from '../support/npm-project.ts'

const SECRET = 'whsec_c2VuZGVyLXMzY3JldA=='

const libraries = npmProject({
  name: 'libraries of senders of webhooks',
  source: fileURLToPath(new URL('./senders/', import.meta.url)),
  program: 'svix/package.json',
  check: async (program) => createRequire(program)('svix'),
})

/** The headers with which the library of the sender signs, or that it accepts. */
type Sign = (body: string, load: NodeJS.Require) => Promise<Record<string, string>>

const SENDERS: Partial<Record<PresetName, Sign>> = {
  async standard(body, load) {
    const now = new Date()
    const signature = new (load('svix').Webhook)(SECRET).sign('msg_1', now, body)
    const seconds = String(Math.floor(now.getTime() / 1000))
    return { 'svix-id': 'msg_1', 'svix-timestamp': seconds, 'svix-signature': signature }
  },
  async stripe(body, load) {
    const { webhooks } = new (load('stripe'))('sk_test_none')
    return { 'Stripe-Signature': webhooks.generateTestHeaderString({ payload: body, secret: SECRET }) }
  },
  async github(body, load) {
    // Its package has no entry for `require`.
    const path = load
      .resolve('svix/package.json')
      .replace(/svix.package\.json$/, '@octokit/webhooks-methods/dist-node/index.js')
    const { sign } = await import(pathToFileURL(path).href)
    return { 'X-Hub-Signature-256': await sign(SECRET, body), 'X-GitHub-Delivery': crypto.randomUUID() }
  },
  async slack(body, load) {
    const headers = await sampleOf('slack', body)
    const { isValidSlackRequest } = load('@slack/bolt')
    expect(isValidSlackRequest({ signingSecret: SECRET, body, headers: lowerCase(headers) })).toBe(true)
    return headers
  },
  async linear(body, load) {
    const headers = await sampleOf('linear', body)
    const { LinearWebhookClient } = load('@linear/sdk/webhooks')
    const { webhookTimestamp } = JSON.parse(body)
    const verify = (text: string) =>
      new LinearWebhookClient(SECRET).verify(Buffer.from(text), headers['Linear-Signature'], webhookTimestamp)
    expect(verify(body)).toBe(true)
    return headers
  },
  async paddle(body, load) {
    const headers = await sampleOf('paddle', body)
    const { webhooks } = new (load('@paddle/paddle-node-sdk').Paddle)('key')
    expect(await webhooks.isSignatureValid(body, SECRET, headers['Paddle-Signature'])).toBe(true)
    return headers
  },
  async shopify(body, load) {
    const headers = await sampleOf('shopify', body)
    load('@shopify/shopify-api/adapters/node')
    const { shopifyApi } = load('@shopify/shopify-api')
    const { webhooks } = shopifyApi({
      ...{
        apiKey: 'key',
        apiSecretKey: SECRET,
        hostName: 'portico.example',
        apiVersion: '2026-01',
        isEmbeddedApp: false,
      },
      logger: { log: () => {} },
    })
    const all = { ...headers, 'X-Shopify-Topic': 'orders/create', 'X-Shopify-API-Version': '2026-01' }
    const rawRequest = {
      method: 'POST',
      url: '/hooks/shopify',
      headers: { ...all, 'X-Shopify-Shop-Domain': 'a.b.com' },
    }
    expect((await webhooks.validate({ rawBody: body, rawRequest, rawResponse: {} })).valid).toBe(true)
    return headers
  },
  meta: hubSigned('sha256', 'X-Hub-Signature-256'),
  bitbucket: hubSigned('sha256', 'X-Hub-Signature'),
  jira: hubSigned('sha256', 'X-Hub-Signature'),
  intercom: hubSigned('sha1', 'X-Hub-Signature'),
}

/** Signs with the library for the header that Meta has introduced and others have taken over. */
function hubSigned(algorithm: 'sha1' | 'sha256', header: string): Sign {
  return async (body, load) => {
    const signature = new (load('x-hub-signature'))(algorithm, SECRET).sign(Buffer.from(body))
    return { [header]: signature }
  }
}

const NAMES = Object.keys(SENDERS) as PresetName[]

function sampleOf(scheme: PresetName, body: string): Promise<Record<string, string>> {
  const proof = { scheme, secrets: [SECRET], header: '' }
  return proofHeaders(proof, { body: new TextEncoder().encode(body), url: '' }, Date.now())
}

function lowerCase(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

const test = sharedTest.extend('service', { scope: 'file' }, ({ serve, worker: _ }) => {
  const hookOf = (scheme: PresetName) => ({ scheme, secretEnv: 'SERVICE_HOOK_A', start: { workflowName: 'echo' } })
  const hooks = Object.fromEntries(NAMES.map((name) => [name, hookOf(name)]))
  return serve({ SERVICE_POLICY: JSON.stringify({ version: 1, hooks }), SERVICE_HOOK_A: SECRET })
})

test.for(NAMES)(
  "%s: the sender's library and the hook agree, and on no other body (threat 33)",
  async (name, { service }) => {
    const load = createRequire(await ensureComponent(libraries))
    const body = JSON.stringify({ id: crypto.randomUUID(), text: 'é', webhookTimestamp: Date.now() })
    const headers = (await SENDERS[name]?.(body, load)) ?? {}
    const send = async (sent: string) =>
      (await service.call('POST', `/hooks/${name}`, sent, { 'Content-Type': 'application/json', ...headers })).status

    expect([await send(`${body} `), await send(body), await send(body)]).toEqual([401, 202, 200])
  },
)
