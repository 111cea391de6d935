import { describe, expect } from 'vitest'
import { startTcpProxy } from '../../dev/servers/tcp-proxy.ts'
import { freePort } from '../../src/cli/dev/servers/ports.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { startClientTestServer } from '../support/client-test-server.ts'
import { test as base } from '../support/fixtures.ts'
import { testCatalog } from '../support/test-catalog.ts'
import { CASES } from './client/run-suite.ts'

/** Starts the suite. The signal aborts when it cannot run; `stop` ends it. */
export type StartClientSuite = (testUrl: string) => Promise<{ died: AbortSignal; stop(): Promise<void> }>

const TOKEN = 'client-token'

/** With a service, `testServer`, that fails on request, for all runtimes of the file, one after another. */
export const clientTest = base
  .extend('workerOptions', { scope: 'file' }, () => ({ catalog: testCatalog }))
  .extend('testServer', { scope: 'file' }, async ({ catalog, startService, cleanup, worker: _ }) => {
    const port = String(await freePort())
    const env = {
      SERVICE_PORT: port,
      SERVICE_HOST: '127.0.0.1',
      SERVICE_API_AUTH_TOKEN: TOKEN,
      // The page in Chromium.
      SERVICE_CORS_ORIGINS: '*',
      SERVICE_SIGNING_KEY: Buffer.alloc(32, 5).toString('base64url'),
      SERVICE_PUBLIC_URL: 'https://portico.example',
    }
    let service = await startService({ env })
    const proxy = await startTcpProxy(`127.0.0.1:${port}`)
    const impatient = await startTcpProxy(`127.0.0.1:${port}`, { maxConnectionMs: 2000 })
    cleanup.defer(() => proxy.close())
    cleanup.defer(() => impatient.close())
    const headers = { Authorization: `Bearer ${TOKEN}` }
    const isPublished = async () => (await fetch(`${service.url}/workflow/catalog`, { headers })).status === 200
    await until('the catalog is published', isPublished)
    const environment = {
      url: service.url,
      proxiedUrl: `http://${proxy.address}`,
      impatientUrl: `http://${impatient.address}`,
      nobodyUrl: `http://127.0.0.1:${await freePort()}`,
      token: TOKEN,
      catalog,
    }
    const restart = async () => {
      await service.kill()
      service = await startService({ env })
    }
    const server = await startClientTestServer({ environment, proxy, impatient, restart })
    cleanup.defer(() => server.close())
    return server
  })

/** The client suite, which runs on a runtime of its own and reports each case. */
export function describeClient(runtime: string, startSuite: StartClientSuite): void {
  describe(`portico/client on ${runtime}`, () => {
    let died: AbortSignal

    clientTest.beforeAll(async ({ testServer }) => {
      testServer.forget()
      const suite = await startSuite(testServer.url)
      died = suite.died
      return () => suite.stop()
    })

    for (const name of Object.keys(CASES)) {
      clientTest(name, async ({ testServer }) => {
        expect(await testServer.result(name, died)).toBeNull()
      })
    }
  })
}
