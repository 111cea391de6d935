/** A cluster of Redis servers. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { type RunningRedis, startRedis } from '../../dev/servers/redis.ts'
import { startTcpProxy } from '../../dev/servers/tcp-proxy.ts'
import { freePort } from '../../src/cli/dev/servers/ports.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import type { Certificate } from './certificates.ts'

export interface ClusterNode {
  server: RunningRedis
  /** What the cluster announces, with the password. */
  url: string
  /** A client of this server alone. */
  client: Redis
  id: string
}

const SLOTS = 16_384

// How far above its own port a node listens for the other nodes.
const BUS_OFFSET = 10_000

interface ClusterOptions {
  /** Of them, the last ones are replicas of the first. */
  replicas?: number
  /** The nodes announce addresses with TLS, and have this certificate. */
  tls?: Certificate
  cleanup: AsyncDisposableStack
}

/** Starts three primaries, which share the slots, and replicas. */
export async function startRedisCluster(options: ClusterOptions): Promise<ClusterNode[]> {
  const { replicas = 0, tls, cleanup } = options
  const folder = await mkdtemp(join(tmpdir(), 'portico-redis-'))
  cleanup.defer(() => rm(folder, { recursive: true, force: true }))
  const nodes = await Promise.all(Array.from({ length: 3 + replicas }, () => startNode(folder, cleanup, tls)))
  const [first] = nodes
  if (first === undefined) throw new Error('A cluster has nodes')
  for (const [index, { client }] of nodes.entries()) {
    await client.call('CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1))
    await client.call('CLUSTER', 'MEET', '127.0.0.1', String(first.server.port))
    const from = Math.ceil((SLOTS * index) / 3)
    const slots = Array.from({ length: Math.ceil((SLOTS * (index + 1)) / 3) - from }, (_, at) => String(from + at))
    if (index < 3) await client.call('CLUSTER', 'ADDSLOTS', ...slots)
  }
  await until('the nodes know each other', async () => {
    const known = await Promise.all(nodes.map(({ client }) => client.call('CLUSTER', 'NODES')))
    return known.every((lines) => String(lines).trim().split('\n').length === nodes.length)
  })
  for (const { client } of nodes.slice(3)) await client.call('CLUSTER', 'REPLICATE', first.id)
  await until('the cluster serves all slots', async () => {
    const states = await Promise.all(nodes.map(({ client }) => client.call('CLUSTER', 'INFO')))
    return states.every((state) => String(state).includes('cluster_state:ok'))
  })
  return nodes
}

async function startNode(folder: string, cleanup: AsyncDisposableStack, tls?: Certificate): Promise<ClusterNode> {
  const port = await portWithBus()
  const announced = tls && (await startTcpProxy(`127.0.0.1:${port}`, { tls }))
  if (announced) cleanup.defer(() => announced.close())
  const server = await startRedis(port, [
    ...['--dir', folder, '--cluster-enabled', 'yes', '--cluster-config-file', `nodes-${port}.conf`],
    // Half of it is how long the nodes take to agree.
    ...['--cluster-node-timeout', '1000', '--masterauth', 'redis-pass-word'],
    ...(announced ? announce(announced.address, port) : []),
  ])
  cleanup.defer(() => server.kill())
  const client = new Redis(server.url)
  client.on('error', () => {}) // a server that a test kills
  cleanup.defer(() => client.disconnect())
  const url = announced ? `rediss://:redis-pass-word@${announced.address}` : server.url
  return { server, url, client, id: String(await client.call('CLUSTER', 'MYID')) }
}

function announce(address: string, port: number): string[] {
  const [host = '', announcedPort = ''] = address.split(':')
  return [
    ...['--cluster-announce-ip', host, '--cluster-announce-port', announcedPort],
    ...['--cluster-announce-bus-port', `${port + BUS_OFFSET}`],
  ]
}

/** The system assigns ports from 32 768 on. */
async function portWithBus(): Promise<number> {
  for (;;) {
    const bus = await freePort()
    if (bus < 32_768 + BUS_OFFSET) return bus - BUS_OFFSET
  }
}

/** Begins to move a slot: the primary that has it answers with ASK for keys that it does not have. */
export async function beginMove(slot: number, from: ClusterNode, to: ClusterNode): Promise<void> {
  await to.client.call('CLUSTER', 'SETSLOT', String(slot), 'IMPORTING', from.id)
  await from.client.call('CLUSTER', 'SETSLOT', String(slot), 'MIGRATING', to.id)
}

export async function endMove(slot: number, from: ClusterNode, to: ClusterNode): Promise<void> {
  for (const { client } of [to, from]) await client.call('CLUSTER', 'SETSLOT', String(slot), 'NODE', to.id)
}

/** The node that has the slot of `key`, with that slot. */
export async function ownerOf(key: string, nodes: readonly ClusterNode[]): Promise<{ slot: number; index: number }> {
  const slot = Number(await nodes[0]?.client.call('CLUSTER', 'KEYSLOT', key))
  return { slot, index: Math.floor((slot * 3) / SLOTS) }
}
