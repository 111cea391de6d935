/** Redis servers behind one address whose roles change while connections stay open. */
import { mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { expect, vi } from 'vitest'
import { type RunningRedis, startRedis } from '../../dev/servers/redis.ts'
import { startTcpProxy } from '../../dev/servers/tcp-proxy.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { tracesFromKv } from '../../src/service/traces/from-kv.ts'
import { createKvStore, type KvStore } from '../../src/shared/stores/kv/kv-store.ts'
import { spansKey } from '../../src/shared/wire/trace/keys.ts'
import { storeCall } from '../conformance/kv-store.ts'
import { traceCall, tracedRun } from '../conformance/trace-source.ts'
import { test as fixtureTest } from '../support/fixtures.ts'

const PASSWORD = 'redis-pass-word'

interface Server extends RunningRedis {
  client: Redis
}

const test = fixtureTest
  .extend('start', ({ cleanup, folder }) => async (...settings: string[]): Promise<Server> => {
    const dir = await mkdtemp(join(folder, 'redis-'))
    const server = await startRedis(undefined, ['--masterauth', PASSWORD, '--dir', dir, ...settings])
    cleanup.defer(() => server.kill())
    const client = new Redis(server.url)
    cleanup.defer(() => client.disconnect())
    return { ...server, client }
  })
  /** A store that connects to a server through a balancer, which `retarget` changes. */
  .extend('balanced', ({ cleanup }) => async (server: RunningRedis) => {
    const proxy = await startTcpProxy(`127.0.0.1:${server.port}`)
    cleanup.defer(() => proxy.close())
    const kv = createKvStore({ url: `redis://:${PASSWORD}@${proxy.address}`, token: null })
    cleanup.defer(() => kv.close())
    return { kv, open: proxy.open, to: ({ port }: RunningRedis) => proxy.retarget(`127.0.0.1:${port}`) }
  })

const append = (kv: KvStore, value: string) => kv.append('list', [value], 60_000, storeCall(5000))
const read = async (kv: KvStore, timeoutMs = 5000) => (await kv.readList('list', 1000, storeCall(timeoutMs))).values

async function makeReplica(server: Server, primary: { port: number }): Promise<void> {
  await server.client.call('REPLICAOF', '127.0.0.1', primary.port)
}

async function failOver(from: Server, to: Server): Promise<void> {
  await to.client.call('REPLICAOF', 'NO', 'ONE')
  await makeReplica(from, to)
}

test.for(['append', 'trim'] as const)(
  'after a failover the next attempt of %s reaches the new primary (failure 20)',
  async (command, { start, balanced }) => {
    const [one, other] = [await start(), await start()]
    await makeReplica(other, one)
    const { kv, open, to } = await balanced(one)
    await append(kv, 'before')
    await until('it is replicated', async () => (await other.client.llen('list')) === 1)

    await failOver(one, other)
    to(other)
    await (command === 'append' ? append(kv, 'after') : kv.trim('list', ['before'], storeCall(5000)))

    expect(await other.client.lrange('list', 0, -1)).toEqual(command === 'append' ? ['before', 'after'] : [])
    expect(open()).toBe(1)
  },
)

test('a replica that has lost its primary and serves nothing is left for the server behind the address', async ({
  start,
  balanced,
}) => {
  const [lost, other] = [await start('--replica-serve-stale-data', 'no'), await start()]
  const { kv, open, to } = await balanced(lost)
  await append(kv, 'gone')
  await other.client.rpush('list', 'there')
  await makeReplica(lost, { port: 1 })
  await expect(read(kv)).rejects.toThrow('(MASTERDOWN)')

  to(other)

  expect(await read(kv)).toEqual(['there'])
  await append(kv, 'more')
  expect(open()).toBe(1)
})

test('a server that loads its data is left for the server behind the address (failure 20)', async ({
  start,
  balanced,
  folder,
}) => {
  // It looks for commands after each 1000 entries.
  await writeFile(join(folder, 'appendonly.aof'), '*1\r\n$4\r\nPING\r\n'.repeat(100_000))
  const loading = await start('--dir', folder, '--appendonly', 'yes', '--key-load-delay', '100')
  const other = await start()
  await other.client.rpush('list', 'there')
  const { kv, open, to } = await balanced(loading)
  await expect(read(kv)).rejects.toThrow('(LOADING)')

  // What workers do: they only write.
  const appending = append(kv, 'more')
  await until('it was rejected', async () =>
    /cmdstat_rpush:.*rejected_calls=[1-9]/.test(await loading.client.info('commandstats')),
  )
  to(other)
  await appending

  expect(await read(kv)).toEqual(['there', 'more'])
  expect(open()).toBe(1)
})

test('a trace is read at once after error replies of a server that takes no reads (failure 20)', async ({
  start,
  balanced,
}) => {
  const [lost, other] = [await start('--replica-serve-stale-data', 'no'), await start()]
  const { kv, to } = await balanced(lost)
  const source = tracesFromKv({ kv, namespace: 'default', maxBytes: 10_000 })
  const find = () => source.find(tracedRun({ runId: 'r' }), traceCall())
  await other.client.rpush(spansKey('default', 'r'), '{}')
  await makeReplica(lost, { port: 1 })
  await expect(find()).rejects.toThrow('(MASTERDOWN)')

  to(other)

  expect(await find()).not.toBeNull()
})

test('a command that a primary without enough replicas has rejected is repeated', async ({ start, balanced }) => {
  const server = await start('--min-replicas-to-write', '1')
  const { kv } = await balanced(server)

  const appending = append(kv, 'kept')
  await until('it was rejected', async () => String(await server.client.info('commandstats')).includes('rpush'))
  await server.client.config('SET', 'min-replicas-to-write', '0')
  await appending

  expect(await read(kv)).toEqual(['kept'])
})

test('a server that is full takes no values, is read from, and takes values when it has room (failure 22)', async ({
  start,
}) => {
  const server = await start()
  const kv = createKvStore({ url: server.url, token: null })
  await append(kv, 'first')
  await server.client.config('SET', 'maxmemory', '1')

  await expect(append(kv, 'second')).rejects.toThrow('The key-value store rejected the command (OOM)')
  const whileFull = await read(kv)
  await server.client.config('SET', 'maxmemory', '0')
  await append(kv, 'third')

  expect(whileFull).toEqual(['first'])
  expect(await read(kv)).toEqual(['first', 'third'])
  await kv.close()
})

test('a database that cannot be selected is an error, and used as soon as it can be (failure 23)', async ({
  start,
}) => {
  const server = await start()
  const rules = ['+rpush', '+pexpire', '+lrange', '+eval', '+lindex', '+ltrim']
  await server.client.call('ACL', 'SETUSER', 'spans', 'on', '>spans', '~*', ...rules)
  await server.client.rpush('list', 'of database 0')
  const printed = vi.spyOn(console, 'warn')
  const kv = createKvStore({ url: `redis://spans:spans@127.0.0.1:${server.port}/2`, token: null })

  await expect(read(kv)).rejects.toThrow('The key-value store rejected the connection (NOPERM)')
  await expect(append(kv, 'of database 2')).rejects.toThrow('The key-value store rejected the connection (NOPERM)')
  await server.client.call('ACL', 'SETUSER', 'spans', '+select')
  await append(kv, 'of database 2')

  expect(await read(kv)).toEqual(['of database 2'])
  expect(await server.client.lrange('list', 0, -1)).toEqual(['of database 0'])
  expect(printed.mock.calls).toEqual([])
  await kv.close()
})

test('a database that does not exist is an error', async ({ start }) => {
  const server = await start()
  const kv = createKvStore({ url: `${server.url}/99`, token: null })

  await expect(read(kv)).rejects.toThrow('The key-value store rejected the connection (ERR)')
  await kv.close()
})

test('a password that the server does not need prints nothing', async ({ start }) => {
  const server = await start('--requirepass', '')
  const printed = vi.spyOn(console, 'warn')
  const kv = createKvStore({ url: server.url, token: null })

  expect(await read(kv)).toEqual([])
  expect(printed.mock.calls).toEqual([])
  await kv.close()
})
