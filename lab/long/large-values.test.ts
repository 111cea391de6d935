/** Large inputs and results over TLS. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { startTcpProxy } from '../../dev/servers/tcp-proxy.ts'
import { defineCatalog } from '../../src/worker/catalog/define-catalog.ts'
import { makeApi } from '../../test/support/api.ts'
import { makeCertificates } from '../../test/support/certificates.ts'
import { FROM_SOURCE, GRPC_RUNTIMES } from '../../test/support/entries.ts'
import { startFirstRun } from '../../test/support/first-run.ts'
import { testWithOwnEngine } from '../../test/support/fixtures.ts'
import type * as workflows from '../../test/support/workflows.ts'

const INPUT_BYTES = 1_000_000
// The engine accepts messages of 4 MiB from a worker.
const OUTPUT_BYTES = 4_000_000
const AT_ONCE = 4

// The engine's default limit for a value is 2 MiB.
const test = testWithOwnEngine({
  dynamicConfig: { 'limit.blobSize.warn': 8 << 20, 'limit.blobSize.error': 8 << 20 },
  // With a catalog that is read once, a start takes one call of the engine.
}).extend('workerOptions', { scope: 'file' }, () => ({
  catalog: defineCatalog<typeof workflows>({ echo: {}, bigOutput: {} }),
}))

describe.for(GRPC_RUNTIMES)('large values over TLS: %s', (runtime) => {
  test('inputs of 1 MB and results of 4 MB arrive unchanged', async ({ engine, worker, folder, cleanup }) => {
    const { authority, server } = await makeCertificates()
    const ca = join(folder, `ca-${runtime}.pem`)
    await writeFile(ca, authority.cert)
    const proxy = await startTcpProxy(engine.address, { tls: { ...server, ALPNProtocols: ['h2'] } })
    cleanup.defer(() => proxy.close())
    const service = await FROM_SOURCE[runtime]({
      SERVICE_CATALOG_ID: worker.taskQueue,
      SERVICE_CATALOG_TTL: '1h',
      ENGINE_ADDRESS: proxy.address,
      ENGINE_TLS_CA: ca,
      ENGINE_TLS_SERVER_NAME: 'localhost',
    })
    cleanup.defer(() => service.stop())
    const api = makeApi({ url: service.url })
    await startFirstRun(api, 'echo')
    // Each is another one, so that a mix-up would show.
    const inputs = Array.from({ length: AT_ONCE }, (_, number) => `${number}`.repeat(INPUT_BYTES))
    const sizes = inputs.map((_, number) => OUTPUT_BYTES - number)
    const timeout = { timeout: '10m' }

    const echoed = await Promise.all(inputs.map((input) => api.run('echo', input, timeout)))
    const produced = await Promise.all(sizes.map((bytes) => api.run('bigOutput', { bytes }, timeout)))
    const readAgain = await api.get(`${produced[0]?.body.workflowId}/result`)

    expect(echoed.map(({ body }, index) => body.output === inputs[index])).toEqual(inputs.map(() => true))
    expect(produced.map(({ body }) => body.output?.length)).toEqual(sizes)
    expect(readAgain.body.output?.length).toBe(OUTPUT_BYTES)
  })
})
