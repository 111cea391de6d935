import { describe, expect } from 'vitest'
import { freePort } from '../../dev/servers/ports.ts'
import { startTcpProxy } from '../../dev/servers/tcp-proxy.ts'
import { until } from '../../dev/servers/until.ts'
import { type ClientTestServer, startClientTestServer } from '../support/client-test-server.ts'
import { test } from '../support/fixtures.ts'
import { testCatalog } from '../support/test-catalog.ts'
import { CASES } from './client/run-suite.ts'

/** Runs the suite in the background. The signal aborts when it cannot run; `stop` ends it. */
export type RunClientSuite = (testUrl: string) => Promise<{ died: AbortSignal; stop(): Promise<void> }>

const TOKEN = 'client-token'

/** The client suite, which runs on a runtime of its own, against a service that fails on request. */
export function describeClient(runtime: string, run: RunClientSuite): void {
  describe(`portico/client on ${runtime}`, () => {
    let server: ClientTestServer
    let died: AbortSignal

    test.beforeAll(async ({ catalog, startWorker, startService, cleanup }) => {
      const port = String(await freePort())
      const env = { SERVICE_PORT: port, SERVICE_API_AUTH_TOKEN: TOKEN, SERVICE_HOST: '127.0.0.1' }
      await startWorker({ catalog: testCatalog })
      let service = await startService({ env })
      const address = `127.0.0.1:${port}`
      const proxy = await startTcpProxy(address)
      const impatient = await startTcpProxy(address, { maxConnectionMs: 1000 })
      cleanup.defer(() => proxy.close())
      cleanup.defer(() => impatient.close())
      const isPublished = async () => {
        const headers = { Authorization: `Bearer ${TOKEN}` }
        return (await fetch(`${service.url}/workflow/catalog`, { headers })).status === 200
      }
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
      server = await startClientTestServer({ environment, proxy, impatient, restart })
      cleanup.defer(() => server.close())
      const suite = await run(server.url)
      cleanup.defer(() => suite.stop())
      died = suite.died
    })

    for (const name of Object.keys(CASES)) {
      test(name, async () => {
        expect(await server.result(name, died)).toBeNull()
      })
    }
  })
}
