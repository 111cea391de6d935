/** The API on each runtime that uses Redis: over TLS, after a failover, and on a cluster. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { describe, expect } from 'vitest'
import { ensureBundles } from '../../dev/servers/bundles.ts'
import { residentMiB } from '../../dev/servers/process-usage.ts'
import { startRedis } from '../../dev/servers/redis.ts'
import { bin, DENO_PERMISSIONS } from '../../dev/servers/runtimes.ts'
import { startTcpProxy } from '../../dev/servers/tcp-proxy.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { spansKey } from '../../src/shared/wire/trace/keys.ts'
import { makeApi } from '../../test/support/api.ts'
import { makeCertificates } from '../../test/support/certificates.ts'
import { processOf, type ServedEntry } from '../../test/support/entries.ts'
import { test as baseTest } from '../../test/support/fixtures.ts'
import { promisedMs } from '../../test/support/promises.ts'
import { readiness } from '../../test/support/readiness.ts'
import { clientsOf } from '../../test/support/redis-clients.ts'
import { ownerOf, startRedisCluster } from '../../test/support/redis-cluster.ts'
import { untilMemoryAsBefore } from './held.ts'
import { idleClock } from './idle-clock.ts'

const RUNTIMES = {
  Node: ['node.js', process.execPath],
  Bun: ['bun.js', bin('bun')],
  Deno: ['deno.js', bin('deno'), 'run', ...DENO_PERMISSIONS],
} as const

const RUNS = 8

const test = baseTest
  .extend('serveOn', ({ engine, worker, cleanup }) => async (runtime: keyof typeof RUNTIMES, url: string, ca = '') => {
    const [bundle, command, ...args] = RUNTIMES[runtime]
    const service = await processOf(
      command,
      ...args,
      join(await ensureBundles(), bundle),
    )({
      ENGINE_ADDRESS: engine.address,
      SERVICE_ALLOW_ANONYMOUS: 'true',
      SERVICE_CATALOG_ID: worker.taskQueue,
      SERVICE_PORT: '0',
      SERVICE_TRACE_REMOTE_ON: 'true',
      SERVICE_STORAGE_BUCKET: 'none',
      SERVICE_STORAGE_REGION: 'eu-central-1',
      SERVICE_STORAGE_ACCESS_KEY_ID: 'unused-key-id',
      SERVICE_STORAGE_SECRET_ACCESS_KEY: 'unused-secret-key',
      SERVICE_KVSTORE_URL: url,
      NODE_EXTRA_CA_CERTS: ca,
      DENO_CERT: ca,
    })
    cleanup.defer(() => service.stop())
    await readiness(makeApi({ url: service.url }))
    return service
  })
  /** Runs that have a span in the store. */
  .extend(
    'runs',
    ({ client, worker }) =>
      async (append: (key: string, span: string) => Promise<unknown>): Promise<string[]> => {
        const workflowIds = Array.from({ length: RUNS }, () => crypto.randomUUID())
        for (const workflowId of workflowIds) {
          const options = { taskQueue: worker.taskQueue, workflowId, args: [1] }
          const { firstExecutionRunId: runId } = await client.workflow.start('echo', options)
          const span = { id: `${runId}:s`, parentId: runId, kind: 'llm', name: 'says', at: 1, phase: 'began' }
          await append(spansKey('default', runId), JSON.stringify(span))
        }
        return workflowIds
      },
  )

async function traceOf({ url }: ServedEntry, workflowId: string | undefined) {
  const response = await fetch(`${url}/workflow/${workflowId}/trace-log`)
  const { source, warnings } = await response.json()
  return { source: String(source), warnings: String(warnings) }
}

async function sourceOf(service: ServedEntry, workflowId: string | undefined): Promise<string> {
  return (await traceOf(service, workflowId)).source
}

describe.for(['Node', 'Bun', 'Deno'] as const)('Redis on %s', (runtime) => {
  test('over TLS, a server that has lost its primary is left for the one behind the address', async ({
    serveOn,
    runs,
    folder,
    cleanup,
  }) => {
    const { authority, server: certificate } = await makeCertificates()
    const ca = join(folder, `${runtime}-ca.pem`)
    await writeFile(ca, authority.cert)
    const [lost, other] = await Promise.all(
      ['lost', 'other'].map((name) =>
        startRedis(undefined, [
          '--dir',
          folder,
          '--dbfilename',
          `${runtime}-${name}`,
          '--replica-serve-stale-data',
          'no',
        ]),
      ),
    )
    if (lost === undefined || other === undefined) throw new Error('a server is missing')
    for (const server of [lost, other]) cleanup.defer(() => server.kill())
    const [admin, otherAdmin] = [new Redis(lost.url), new Redis(other.url)]
    for (const client of [admin, otherAdmin]) cleanup.defer(() => client.disconnect())
    const [workflowId] = await runs((key, span) => otherAdmin.rpush(key, span))
    const proxy = await startTcpProxy(`127.0.0.1:${lost.port}`, { tls: certificate })
    cleanup.defer(() => proxy.close())
    const port = proxy.address.split(':')[1]
    const service = await serveOn(runtime, `rediss://:redis-pass-word@localhost:${port}`, ca)
    expect(await sourceOf(service, workflowId)).toBe('history') // it has no spans
    const beforeMiB = residentMiB(service.pid)
    await admin.call('REPLICAOF', '127.0.0.1', '1')
    expect(await sourceOf(service, workflowId)).toBe('history') // it rejects the command

    proxy.retarget(`127.0.0.1:${other.port}`)

    expect(await sourceOf(service, workflowId)).toBe('kvstore')
    await until('one connection is open', () => proxy.open() === 1)
    await untilMemoryAsBefore(beforeMiB, service)
  })

  test('a database that may not be selected is not read, which a warning says, until 10 s after it may (failure 23)', async ({
    serveOn,
    runs,
    folder,
    cleanup,
  }) => {
    const server = await startRedis(undefined, ['--dir', folder])
    cleanup.defer(() => server.kill())
    const [first, second] = [new Redis(server.url), new Redis(`${server.url}/2`)]
    for (const client of [first, second]) cleanup.defer(() => client.disconnect())
    await first.call('ACL', 'SETUSER', 'spans', 'on', '>spans', '~*', '+@all', '-select')
    const [wrongId] = await runs((key, span) => first.rpush(key, span))
    const [workflowId] = await runs((key, span) => second.rpush(key, span))
    const service = await serveOn(runtime, `redis://spans:spans@127.0.0.1:${server.port}/2`)

    const denied = await traceOf(service, wrongId)
    await first.call('ACL', 'SETUSER', 'spans', '+select')
    const sinceThen = idleClock(service)
    let lastDeniedMs = 0
    await until('the database is read', async () => {
      const sentAfterMs = sinceThen()
      if ((await sourceOf(service, workflowId)) === 'kvstore') return true
      lastDeniedMs = sentAfterMs
      return false
    })

    expect(denied).toEqual({ source: 'history', warnings: expect.stringContaining('NOPERM') })
    expect(lastDeniedMs).toBeLessThan(promisedMs(23, '10 s'))
    expect(await sourceOf(service, wrongId)).toBe('history')
  })

  test.for(['without TLS', 'over TLS'])(
    'on a cluster %s, with the URL of one node, spans come from every node (failure 21)',
    async (protocol, { serveOn, runs, folder, cleanup }) => {
      const { authority, server: tls } = await makeCertificates({ name: '127.0.0.1' })
      const ca = join(folder, `${runtime}-cluster-ca.pem`)
      await writeFile(ca, authority.cert)
      const nodes = await startRedisCluster({ cleanup, ...(protocol === 'over TLS' && { tls }) })
      const workflowIds = await runs(async (key, span) => {
        const { index } = await ownerOf(key, nodes)
        await nodes[index]?.client.rpush(key, span)
      })
      const service = await serveOn(runtime, nodes[0]?.url ?? '', ca)

      const sources: string[] = []
      for (const workflowId of workflowIds) sources.push(await sourceOf(service, workflowId))

      expect(sources).toEqual(workflowIds.map(() => 'kvstore'))
      await until('each node has one connection of the service, and one of the test', async () => {
        const clients = await Promise.all(nodes.map(({ client }) => clientsOf(client)))
        return clients.every((count) => count <= 2)
      })
      expect(service.output()).not.toMatch(/ioredis|\[WARN\]/)
    },
  )
})
