/** Webhooks on each runtime, whose `fetch` and `crypto` differ. `test/faults/access/hooks.test.ts` has the details. */
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { type Api, makeApi } from '../support/api.ts'
import { EVERY_RUNTIME, RUNTIMES } from '../support/entries.ts'
import { test as sharedTest } from '../support/fixtures.ts'
import { readiness } from '../support/readiness.ts'
import { type SignedScheme, signWebhook } from '../support/sign-webhook.ts'

const SCHEMES = Object.keys(signWebhook) as SignedScheme[]

const SECRET = 'whsec_czNjcmV0'

/** A hook for each scheme, and one for each action. Their ids differ between runtimes. */
function policyOf(runtime: string): string {
  const schemes = SCHEMES.map((scheme) => [
    scheme,
    {
      scheme,
      secretEnv: 'SERVICE_HOOK_A',
      argument: 'body',
      start: { workflowName: 'echo', workflowId: `${scheme}-${runtime}:{/id}` },
      ...(scheme === 'token' && { header: 'X-Token' }),
    },
  ])
  const idOf = (action: string) => `${action}-${runtime}:{/id}`
  const actions = {
    signals: { signal: { workflowId: idOf('signals'), name: 'add' } },
    signalsOrStarts: {
      signalWithStart: {
        start: { workflowName: 'messages', workflowId: idOf('signalsOrStarts') },
        signal: { name: 'add' },
      },
    },
    completes: { complete: { workflowId: idOf('completes'), activityId: 'approval' } },
  }
  const github = { scheme: 'github', secretEnv: 'SERVICE_HOOK_A', argument: 'body' }
  const actionHooks = Object.entries(actions).map(([name, action]) => [name, { ...github, ...action }])
  const { start } = actions.signalsOrStarts.signalWithStart
  const hooks = [...actionHooks, ['cloudevents', { ...github, challenge: 'cloudevents', start }]]
  return JSON.stringify({ version: 1, hooks: Object.fromEntries([...schemes, ...hooks]) })
}

const test = sharedTest
  .extend('workers', { scope: 'file' }, ({ startWorker }) => startWorker({}))
  /** Starts the service on a runtime, once. */
  .extend('serviceOn', { scope: 'file' }, ({ engine, catalog, cleanup, workers: _ }) => {
    const services = new Map<string, Promise<Api & { output(): string }>>()
    const start = async (runtime: keyof typeof EVERY_RUNTIME) => {
      const { url, stop, output } = await EVERY_RUNTIME[runtime]({
        SERVICE_CATALOG_ID: catalog,
        SERVICE_HOST: '127.0.0.1',
        SERVICE_API_AUTH_TOKEN: 'own-token',
        SERVICE_HOOK_A: SECRET,
        SERVICE_POLICY: policyOf(runtime),
        ENGINE_ADDRESS: engine.address,
        ENGINE_HTTP_URL: engine.httpUrl ?? '',
      })
      cleanup.defer(stop)
      const api = makeApi({ url, token: 'own-token' })
      await readiness(api)
      return { ...api, output }
    }
    return (runtime: keyof typeof EVERY_RUNTIME) => {
      const service = services.get(runtime) ?? start(runtime)
      services.set(runtime, service)
      return service
    }
  })

test.for(RUNTIMES)(
  '%s: each scheme accepts the bytes that were signed once, and no others (threat 33)',
  async (runtime, { serviceOn }) => {
    const { call, output } = await serviceOn(runtime)
    const statusesOf = async (scheme: SignedScheme) => {
      const id = crypto.randomUUID()
      const body = `{ "id": "${id}", "text": "é", "n": 12345678901234567890, "webhookTimestamp": ${Date.now()} }`
      const send = async (sent: string, secret = SECRET) =>
        call('POST', `/hooks/${scheme}`, sent, {
          'Content-Type': 'application/json',
          ...signWebhook[scheme]({ secret, body, id: 'id-1' }),
        })
      const forged = await send(body, 'b3RoZXI=')
      const changed = scheme === 'token' ? forged : await send(body.replaceAll(' ', ''))
      const accepted = await send(body)
      const repeated = await send(body)
      const { body: ended } = await call('GET', `/workflow/${accepted.body.workflowId}/result?wait=60s`)
      return [forged.status, changed.status, accepted.status, repeated.status, ended.output?.text]
    }

    const statuses = await Promise.all(SCHEMES.map(statusesOf))

    expect(statuses).toEqual(SCHEMES.map(() => [401, 401, 202, 200, 'é']))
    expect(output()).not.toContain('czNjcmV0')
  },
)

test.for(RUNTIMES)(
  '%s: an event that comes twice signals, starts and completes once (threat 33)',
  async (runtime, { serviceOn, client, catalog }) => {
    const { call } = await serviceOn(runtime)
    const event = { id: crypto.randomUUID(), text: 'é' }
    const idOf = (hook: string) => `${hook}-${runtime}:${event.id}`
    const send = async (hook: string) => {
      const body = JSON.stringify(event)
      const signed = signWebhook.github({ secret: SECRET, body, id: event.id })
      return (await call('POST', `/hooks/${hook}`, body, { 'Content-Type': 'application/json', ...signed })).status
    }
    const options = { taskQueue: catalog }
    await client.workflow.start('messages', { ...options, workflowId: idOf('signals') })
    const waiting = await client.workflow.start('completesOutside', {
      ...options,
      workflowId: idOf('completes'),
      args: [{}],
    })
    await until('the activity waits', async () => (await waiting.describe()).raw.pendingActivities?.length === 1)

    const statuses: Record<string, number[]> = {}
    for (const hook of ['signals', 'signalsOrStarts', 'completes'])
      statuses[hook] = [await send(hook), await send(hook)]

    expect(statuses).toEqual({ signals: [202, 202], signalsOrStarts: [202, 200], completes: [202, 200] })
    for (const hook of ['signals', 'signalsOrStarts'])
      expect(await client.workflow.getHandle(idOf(hook)).query('state')).toMatchObject({ gathered: [event] })
    expect(await waiting.result()).toEqual([event])
  },
)

test.for(RUNTIMES)(
  '%s: OPTIONS is the handshake of CloudEvents on the hook that names it, and starts nothing',
  async (runtime, { serviceOn }) => {
    const { call } = await serviceOn(runtime)
    const origin = { 'WebHook-Request-Origin': 'eventgrid.azure.net', 'WebHook-Request-Rate': '120' }
    const handshake = async (hook: string) => {
      const { status, headers } = await call('OPTIONS', `/hooks/${hook}`, undefined, origin)
      return [status, headers.get('WebHook-Allowed-Origin'), headers.get('WebHook-Allowed-Rate')]
    }

    expect(await handshake('cloudevents')).toEqual([200, 'eventgrid.azure.net', '*'])
    expect(await handshake('signals')).toEqual([204, null, null])
  },
)
