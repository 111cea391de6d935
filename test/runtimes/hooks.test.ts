/** Webhooks on each runtime, whose `fetch` and `crypto` differ. `test/faults/access/hooks.test.ts` has the details. */
import { join } from 'node:path'
import { expect } from 'vitest'
import { ensureBundles } from '../../dev/servers/bundles.ts'
import { makeApi } from '../support/api.ts'
import { FROM_SOURCE, type ServeEntry, workerdOf } from '../support/entries.ts'
import { test as sharedTest } from '../support/fixtures.ts'
import { type SignedScheme, signWebhook } from '../support/sign-webhook.ts'

const test = sharedTest.extend('workers', { scope: 'file' }, ({ startWorker }) => startWorker({}))

const ENTRIES: Record<string, ServeEntry> = {
  ...FROM_SOURCE,
  workerd: async (env) => workerdOf(join(await ensureBundles(), 'workerd.js'))(env),
}

const SCHEMES = Object.keys(signWebhook) as SignedScheme[]

const SECRET = 'whsec_czNjcmV0'

/** A hook for each scheme, whose ids differ between runtimes. */
function policyOf(runtime: string): string {
  const hooks = SCHEMES.map((scheme) => [
    scheme,
    {
      scheme,
      secretEnv: 'SERVICE_HOOK_A',
      argument: 'body',
      start: { workflowName: 'echo', workflowId: `${scheme}-${runtime}:{/id}` },
      ...(scheme === 'token' && { header: 'X-Token' }),
    },
  ])
  return JSON.stringify({ version: 1, hooks: Object.fromEntries(hooks) })
}

test.for(Object.keys(ENTRIES))(
  '%s: each scheme accepts the bytes that were signed once, and no others',
  async (runtime, { engine, catalog, cleanup, workers: _ }) => {
    const server = await ENTRIES[runtime]?.({
      PATH: process.env.PATH ?? '',
      SERVICE_CATALOG_ID: catalog,
      SERVICE_PORT: '0',
      SERVICE_HOST: '127.0.0.1',
      SERVICE_API_AUTH_TOKEN: 'own-token',
      SERVICE_HOOK_A: SECRET,
      SERVICE_POLICY: policyOf(runtime),
      ENGINE_ADDRESS: engine.address,
      ENGINE_HTTP_URL: engine.httpUrl ?? '',
    })
    const { url, stop, output } = server ?? expect.unreachable()
    cleanup.defer(stop)
    const { call } = makeApi({ url, token: 'own-token' })
    const statusesOf = async (scheme: SignedScheme) => {
      const body = `{ "id": "${crypto.randomUUID()}", "text": "é", "n": 12345678901234567890 }`
      const send = async (sent: string, secret = SECRET) =>
        call('POST', `/hooks/${scheme}`, sent, {
          'Content-Type': 'application/json',
          ...signWebhook[scheme]({ secret, body, id: 'id-1' }),
        })
      const forged = await send(body, 'b3RoZXI=')
      const changed = scheme === 'token' ? forged : await send(body.replaceAll(' ', ''))
      const accepted = await send(body)
      const repeated = await send(body)
      const { body: ended } = await call('GET', `/workflow/${accepted.body.workflowId}/result?wait=20s`)
      return [forged.status, changed.status, accepted.status, repeated.status, ended.output?.text]
    }

    const statuses = await Promise.all(SCHEMES.map(statusesOf))

    expect(statuses).toEqual(SCHEMES.map(() => [401, 401, 202, 200, 'é']))
    expect(output()).not.toContain('czNjcmV0')
  },
)
