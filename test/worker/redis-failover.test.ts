/** A worker process that writes spans over TLS all the time, while the Redis behind its address fails over. */
import { mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { expect } from 'vitest'
import { residentMiB } from '../../dev/servers/process-usage.ts'
import { type RunningRedis, startRedis } from '../../dev/servers/redis.ts'
import { startTcpProxy } from '../../dev/servers/tcp-proxy.ts'
import { tracedEnv } from '../../dev/servers/traced-worker.ts'
import { untilMemoryAsBefore } from '../../lab/long/held.ts'
import { idleClock } from '../../lab/long/idle-clock.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { spansKey } from '../../src/shared/wire/trace/keys.ts'
import { makeCertificates } from '../support/certificates.ts'
import { test as baseTest } from '../support/fixtures.ts'
import { clientsOf } from '../support/redis-clients.ts'
import { bundleTraced, startTracedWorker } from '../support/traced-worker.ts'
import { startStory } from './fixtures/start-story.ts'

const USABLE_MS = 10_000
const SPANS = ['http inner began', 'http inner ended', 'llm outer began', 'llm outer ended']

// Each span has 60 000 bytes: the buffer has room for less than three runs.
const MAX_BUFFERED_BYTES = 16 * 1024 * 1024
const TIMES = 100
const RUNS_OF_TALKS = 4

interface Server extends RunningRedis {
  client: Redis
}

const test = baseTest
  .extend('start', ({ cleanup, folder }) => async (): Promise<Server> => {
    const dir = await mkdtemp(join(folder, 'redis-'))
    const server = await startRedis(undefined, ['--masterauth', 'redis-pass-word', '--dir', dir])
    cleanup.defer(() => server.kill())
    const client = new Redis(server.url)
    client.on('error', () => {}) // a server that the test kills
    cleanup.defer(() => client.disconnect())
    return { ...server, client }
  })
  /** Two servers, the second one a replica of the first, and a worker that reaches the first one over TLS. */
  .extend('replicated', async ({ start, engine, folder, cleanup }) => {
    const [primary, replica] = [await start(), await start()]
    await replica.client.call('REPLICAOF', '127.0.0.1', primary.port)
    await until('it is replicated', async () => isSynced(primary, replica))
    const { authority, server } = await makeCertificates({ name: '127.0.0.1' })
    const ca = join(folder, `${crypto.randomUUID()}.pem`)
    await writeFile(ca, authority.cert)
    const proxy = await startTcpProxy(addressOf(primary), { tls: server })
    cleanup.defer(() => proxy.close())
    // Nothing is archived, so that the spans stay.
    const storage = {
      bucket: 'none',
      region: 'eu-central-1',
      accessKeyId: 'unused-key-id',
      secretAccessKey: 'unused-secret-key',
    }
    const url = `rediss://:redis-pass-word@${proxy.address}`
    const taskQueue = crypto.randomUUID()
    const worker = await startTracedWorker({
      ...tracedEnv({ url }, { ...storage, endpoint: 'http://127.0.0.1:1' }),
      SERVICE_CATALOG_ID: taskQueue,
      ENGINE_ADDRESS: engine.address,
      WORKFLOW_BUNDLE: await bundleTraced(folder),
      NODE_EXTRA_CA_CERTS: ca,
    })
    cleanup.defer(async () => void (await worker.kill()))
    return { primary, replica, proxy, worker, taskQueue }
  })
  /** Runs one workflow after the other until the returned function is called, which returns their run ids. */
  .extend('keepRunning', ({ client, replicated: { taskQueue } }) => () => {
    const runIds: string[] = []
    const stopping = new AbortController()
    const running = (async () => {
      while (!stopping.signal.aborted) {
        const run = await startStory(client, taskQueue, crypto.randomUUID())
        await run.result()
        runIds.push(run.firstExecutionRunId)
      }
    })()
    running.catch(() => {}) // reported by `stop`
    return {
      runIds,
      async stop() {
        stopping.abort()
        await running
      },
    }
  })

const addressOf = ({ port }: RunningRedis) => `127.0.0.1:${port}`

async function isSynced(primary: Server, replica: Server): Promise<boolean> {
  const offsets = await Promise.all(
    [primary, replica].map(
      async ({ client }) => /master_repl_offset:(\d+)/.exec(await client.info('replication'))?.[1],
    ),
  )
  return offsets[0] === offsets[1] && (await replica.client.info('replication')).includes('master_link_status:up')
}

async function spansOf({ client }: Server, runId: string): Promise<string[]> {
  const entries = (await client.lrange(spansKey('default', runId), 0, -1)).map((entry) => JSON.parse(entry))
  return [...new Set(entries.map(({ kind, name, phase }) => `${kind} ${name} ${phase}`))].toSorted()
}

test.for<[how: string, failOver: (servers: Replicated, runIds: readonly string[]) => Promise<unknown>]>([
  [
    'demoted',
    async ({ primary, replica, proxy }) => {
      // As FAILOVER does: what a primary accepts after the promotion would be lost, whatever its clients do.
      await primary.client.call('CLIENT', 'PAUSE', '60000', 'WRITE')
      await until('it is replicated', () => isSynced(primary, replica))
      await replica.client.call('REPLICAOF', 'NO', 'ONE')
      await primary.client.call('REPLICAOF', '127.0.0.1', replica.port)
      proxy.retarget(addressOf(replica))
      await primary.client.call('CLIENT', 'UNPAUSE')
    },
  ],
  [
    'killed',
    async ({ primary, replica, proxy }, runIds) => {
      // What a primary has accepted and not replicated is lost with it, whatever its clients do.
      proxy.interrupt()
      await until('it is replicated', () => isSynced(primary, replica))
      await primary.kill()
      const before = runIds.length
      await until('the spans of some runs are buffered', () => proxy.rejected() > 0 && runIds.length > before + 2)
      await replica.client.call('REPLICAOF', 'NO', 'ONE')
      proxy.retarget(addressOf(replica))
      proxy.restore()
    },
  ],
])(
  'after the primary is %s spans arrive within 10 s, and none is lost (failure 20)',
  async ([, failOver], { replicated, keepRunning }) => {
    const { primary, replica, proxy, worker } = replicated
    const { runIds, stop } = keepRunning()
    await until('spans arrive', async () => (await spansOf(primary, runIds[0] ?? '')).length === SPANS.length)
    const clients = await clientsOf(primary.client)
    const beforeMiB = residentMiB(worker.pid)

    await failOver(replicated, runIds)
    const sinceThen = idleClock(worker)
    // The run that is under way has spans at both.
    const before = runIds.length + 1
    const usableAfterMs = await until('spans arrive at the new primary', async () => {
      const readAfterMs = sinceThen()
      const spans = await Promise.all(runIds.slice(before).map((runId) => spansOf(replica, runId)))
      return spans.some(({ length }) => length > 0) && readAfterMs
    })
    await stop()
    await until('all spans arrive', async () => (await missing(replica, runIds)).length === 0)

    expect(usableAfterMs).toBeLessThan(USABLE_MS)
    expect(worker.output()).not.toContain('Spans were dropped')
    expect(await clientsOf(replica.client)).toBe(clients)
    expect(proxy.open()).toBe(1)
    await untilMemoryAsBefore(beforeMiB, worker)
  },
)

test.for<[code: string, deny: (primary: Server) => Promise<unknown>, allow: (primary: Server) => Promise<unknown>]>([
  [
    'OOM',
    ({ client }) => client.config('SET', 'maxmemory', '1'),
    ({ client }) => client.config('SET', 'maxmemory', '0'),
  ],
  [
    'NOPERM',
    ({ client }) => client.call('ACL', 'SETUSER', 'default', '-rpush', '-eval'),
    ({ client }) => client.call('ACL', 'SETUSER', 'default', '+@all'),
  ],
])(
  'while Redis rejects spans with %s the worker warns, and no span is lost (failures 22, 23)',
  async ([code, deny, allow], { replicated: { primary, worker }, keepRunning }) => {
    const { runIds, stop } = keepRunning()
    await until('spans arrive', async () => (await spansOf(primary, runIds[0] ?? '')).length === SPANS.length)

    await deny(primary)
    const warning = new RegExp(`Spans could not be sent; will retry.*${code}`, 's')
    await until('it warns', () => warning.test(worker.output()))
    await allow(primary)
    await stop()

    await until('all spans arrive', async () => (await missing(primary, runIds)).length === 0)
    expect(worker.output()).not.toContain('Spans were dropped')
  },
)

test('while Redis is away the worker keeps the latest 16 MiB of spans, and needs no more memory for others (failure 19)', async ({
  client,
  replicated: { primary, proxy, worker, taskQueue },
}) => {
  const runIds: string[] = []
  const talk = async (runs: number) => {
    for (const last = runIds.length + runs; runIds.length < last; ) {
      const options = { taskQueue, workflowId: crypto.randomUUID(), args: [{ times: TIMES }] }
      const run = await client.workflow.start('talking', options)
      await run.result()
      runIds.push(run.firstExecutionRunId)
    }
  }
  proxy.interrupt()
  await talk(RUNS_OF_TALKS)
  await until('the buffer is full', () => worker.output().includes('Spans were dropped'))
  const fullMiB = residentMiB(worker.pid)
  await talk(RUNS_OF_TALKS)
  await untilMemoryAsBefore(fullMiB, worker)
  proxy.restore()
  const entriesOf = (runId: string) => primary.client.lrange(spansKey('default', runId), 0, -1)
  await until('all spans of the latest run arrive', async () => {
    const entries = await entriesOf(runIds.at(-1) ?? '')
    return entries.length === 2 * TIMES
  })
  const kept = (await Promise.all(runIds.map(entriesOf))).flat()

  // Some may be of the first run: a request that was under way is not dropped.
  expect(Buffer.byteLength(kept.join(''))).toBeLessThanOrEqual(MAX_BUFFERED_BYTES)
})

type Replicated = { primary: Server; replica: Server; proxy: Awaited<ReturnType<typeof startTcpProxy>> }

async function missing(server: Server, runIds: readonly string[]): Promise<string[]> {
  const spans = await Promise.all(runIds.map((runId) => spansOf(server, runId)))
  return runIds.filter((_, index) => spans[index]?.join() !== SPANS.join())
}
