/** The key-value store on a cluster of Redis servers, with the URL of one of them. */
import { expect, vi } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { tracesFromKv } from '../../src/service/traces/from-kv.ts'
import { createKvStore, type KvStore } from '../../src/shared/stores/kv/kv-store.ts'
import { spansKey } from '../../src/shared/wire/trace/keys.ts'
import { storeCall } from '../conformance/kv-store.ts'
import { traceCall, tracedRun } from '../conformance/trace-source.ts'
import { test as fixtureTest } from '../support/fixtures.ts'
import { beginMove, type ClusterNode, endMove, ownerOf, startRedisCluster } from '../support/redis-cluster.ts'

const KEYS = Array.from({ length: 24 }, (_, index) => `spans:default:${index}`)

/** Three primaries, and a replica of the first one. */
const test = fixtureTest
  .extend('nodes', { scope: 'file' }, async ({ cleanup }) => {
    const [first, second, third, replica] = await startRedisCluster({ replicas: 1, cleanup })
    if (!first || !second || !third || !replica) throw new Error('a node is missing')
    return [first, second, third, replica] as const
  })
  .extend('stores', async ({ cleanup }, { onCleanup }) => {
    const stores = cleanup.use(new AsyncDisposableStack())
    onCleanup(() => stores.disposeAsync())
    return stores
  })
  .extend('storeAt', ({ stores }) => (node: ClusterNode, user = ':redis-pass-word'): KvStore => {
    const kv = createKvStore({ url: `redis://${user}@127.0.0.1:${node.server.port}`, token: null })
    stores.defer(() => kv.close())
    return kv
  })

const append = (kv: KvStore, key: string, value: string) => kv.append(key, [value], 60_000, storeCall(5000))
const read = async (kv: KvStore, key: string) => (await kv.readList(key, 1000, storeCall(5000))).values

test('Redis Cluster: keys on every node are written, read and trimmed, whichever node is in the URL', async ({
  nodes,
  storeAt,
}) => {
  for (const [index, node] of nodes.entries()) {
    const kv = storeAt(node)
    const keys = KEYS.map((key) => `${key} ${index}`)
    for (const key of keys) await append(kv, key, key)

    for (const key of keys) expect(await read(kv, key)).toEqual([key])
    for (const key of keys) await kv.trim(key, [key], storeCall())
    for (const key of keys) expect(await read(kv, key)).toEqual([])
  }
})

test('Redis Cluster: many commands at once find the cluster together', async ({ nodes, storeAt }) => {
  const kv = storeAt(nodes[0])
  const keys = KEYS.map((key) => `${key} at once`)

  await Promise.all(keys.map((key) => append(kv, key, key)))

  const values = await Promise.all(keys.map((key) => read(kv, key)))
  expect(values.map(([first]) => first)).toEqual(keys)
})

test('Redis Cluster: a slot is written to and read before, while and after it moves (failure 21)', async ({
  nodes,
  storeAt,
}) => {
  const [key, later] = ['{moved}', '{moved} later']
  const { slot, index } = await ownerOf(key, nodes)
  const [from, to] = index === 0 ? [nodes[0], nodes[1]] : [nodes[index] ?? nodes[0], nodes[0]]
  const [known, fresh] = [storeAt(from), storeAt(from)]
  await append(known, key, 'before')

  await beginMove(slot, from, to)
  await append(known, key, 'while')
  await append(known, later, 'asks')
  expect(await read(fresh, later)).toEqual(['asks']) // its first error is ASK
  await from.client.call('MIGRATE', '127.0.0.1', to.server.port, key, 0, 5000, 'AUTH', 'redis-pass-word')
  await append(known, key, 'migrated')
  await endMove(slot, from, to)
  await append(known, key, 'after')

  expect(await read(known, key)).toEqual(['before', 'while', 'migrated', 'after'])
  expect(await read(storeAt(nodes[3]), later)).toEqual(['asks'])
})

test('Redis Cluster: the documented permissions are enough, and the client prints nothing', async ({
  nodes,
  storeAt,
}) => {
  const password = 'p@ss:w/rd?#% ü'
  const rules = '+rpush +pexpire +lrange +eval +lindex +ltrim +select +asking +cluster|slots'.split(' ')
  for (const { client } of nodes) await client.call('ACL', 'SETUSER', 'spans', 'on', `>${password}`, '~*', ...rules)
  const printed = vi.spyOn(console, 'warn')
  const kv = storeAt(nodes[0], `spans:${encodeURIComponent(password)}`)
  const keys = KEYS.map((key) => `${key} as user`)

  for (const key of keys) await append(kv, key, key)

  for (const key of keys) expect(await read(kv, key)).toEqual([key])
  for (const key of keys) await kv.trim(key, [key], storeCall())
  expect(printed.mock.calls).toEqual([])
})

test('Redis Cluster: without the permission to find the nodes the error says so (failure 23)', async ({
  nodes,
  storeAt,
}) => {
  for (const { client } of nodes) await client.call('ACL', 'SETUSER', 'lost', 'on', '>lost', '~*', '+lrange')
  const kv = storeAt(nodes[0], 'lost:lost')

  await expect(Promise.all(KEYS.map((key) => read(kv, key)))).rejects.toThrow('rejected the connection (NOPERM)')
})

test('Redis Cluster: another database than 0 is an error', async ({ nodes }) => {
  const kv = createKvStore({ url: `${nodes[0].server.url}/2`, token: null })

  await expect(read(kv, 'any')).rejects.toThrow('The key-value store rejected the connection (ERR)')
  await kv.close()
})

test('Redis Cluster: the replica of a node that has failed is used, and closing leaves no connection (failure 21)', async ({
  nodes,
  storeAt,
}) => {
  const [first, second, , replica] = nodes
  const owners = await Promise.all(KEYS.map((key) => ownerOf(key, nodes)))
  const key = KEYS.find((_, index) => owners[index]?.index === 0) ?? ''
  const kv = storeAt(second)
  await append(kv, key, 'before')

  await first.server.kill()
  await until('it is written again', async () => {
    await append(kv, key, 'after')
    return true
  })

  expect((await read(kv, key)).at(-1)).toBe('after')
  await kv.close()
  await until('its connections are closed', async () => {
    const clients = String(await replica.client.call('CLIENT', 'LIST'))
      .trim()
      .split('\n')
    return clients.length === 1
  })
})

test('Redis Cluster: a node that is away does not keep traces of the other nodes from being read (failure 21)', async ({
  nodes,
  storeAt,
}) => {
  const [, second, third, replica] = nodes
  for (const { client } of [second, third, replica]) await client.config('SET', 'cluster-require-full-coverage', 'no')
  const runIds = Array.from({ length: 24 }, (_, index) => `run-${index}`)
  const owners = await Promise.all(runIds.map((runId) => ownerOf(spansKey('default', runId), [second])))
  const [there, away] = [1, 2].map((node) => runIds[owners.findIndex(({ index }) => index === node)])
  const kv = storeAt(second)
  const source = tracesFromKv({ kv, namespace: 'default', maxBytes: 10_000 })
  const find = (runId: string | undefined) => source.find(tracedRun({ ...(runId && { runId }) }), traceCall())
  for (const runId of [there, away]) await append(kv, spansKey('default', `${runId}`), '{}')

  await third.server.kill()
  await expect(find(away)).rejects.toThrow('cannot be reached')
  const whileAway = await find(there)
  await third.server.restart()

  expect(whileAway).not.toBeNull()
  await until('the node is used again', () => find(away).then(() => true))
})
