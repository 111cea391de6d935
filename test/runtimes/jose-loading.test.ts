import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { startServiceProcess } from '../../dev/servers/service.ts'
import { makeApi } from '../support/api.ts'
import { test as sharedTest } from '../support/fixtures.ts'
import { startIdentityProvider } from '../support/identity-provider.ts'
import { AUDIENCE, createSigner, ISSUER } from '../support/jwt-signer.ts'

const ENTRY = fileURLToPath(new URL('../support/loads-service.ts', import.meta.url))
const TOKEN = 'ptc_of-a-rule'
const HASH = createHash('sha256').update(TOKEN).digest('hex')
const OF_TOKEN = { name: 'ci', who: { token: `sha256:${HASH}` }, can: ['start'] }
const OF_USERS = { name: 'users', who: { jwt: 'main' }, can: ['read'] }

const test = sharedTest.extend('start', { scope: 'file' }, ({ engine, catalog, cleanup }) => {
  return async (policy: object) => {
    const env = { SERVICE_POLICY: JSON.stringify({ version: 1, ...policy }) }
    const service = await startServiceProcess({ address: engine.address, catalog, entry: ENTRY, env })
    cleanup.defer(async () => void (await service.kill()))
    const loaded = () => service.events.flatMap(({ message, module }) => (message === 'loaded' ? [module] : []))
    const statusOf = async (token: string) => (await makeApi({ url: service.url, token }).call('GET', '/nope')).status
    return { loaded, statusOf }
  }
})

test('a policy without issuers never loads jose, whatever credential is sent', async ({ start }) => {
  const { loaded, statusOf } = await start({ rules: [OF_TOKEN] })
  const jwt = await (await createSigner()).sign({ sub: 'ada' })

  expect([await statusOf(TOKEN), await statusOf(jwt), await statusOf('a.b.c')]).toEqual([404, 401, 401])
  expect(loaded()).toEqual([])
})

test('a policy with issuers loads jose', async ({ start, cleanup }) => {
  const signer = await createSigner()
  const { jwksUrl, stop } = await startIdentityProvider([signer])
  cleanup.defer(stop)
  const issuers = { main: { issuer: ISSUER, audience: AUDIENCE, jwksUrl } }
  const { loaded, statusOf } = await start({ issuers, rules: [OF_TOKEN, OF_USERS] })

  expect(await statusOf(await signer.sign({ sub: 'ada' }))).toBe(404)
  await expect.poll(loaded).toContainEqual(expect.stringMatching(/^jose\//))
})
