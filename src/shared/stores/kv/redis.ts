import type { Cluster, Redis } from 'ioredis'
import { unlessAborted } from '../../lib/abort.ts'
import { lazy } from '../../lib/cache.ts'
import { singleFlight } from '../../lib/single-flight.ts'
import { retryStoreCall, type StoreCall, StoreError } from '../store-call.ts'
import { KEY_VALUE_STORE, type KvConnection } from './connection.ts'
import { createRedis, createRedisCluster, type RedisModule } from './create-redis.ts'
import { redisErrorCode } from './redis-error-code.ts'

export interface RedisOptions {
  url: string
  /** Loads the client on the first command; see `docs/decisions/020-what-is-loaded-when.md`. */
  load?: () => Promise<RedisModule>
}

type Client = Redis | Cluster

/**
 * Redis over TCP. It connects with the first command, and again whenever the connection is lost. A server that belongs
 * to a cluster says so when a key is on another one; from then on the client is one of the cluster. Not for workerd.
 */
export function redisConnection({ url, load = () => import('./redis-client.ts') }: RedisOptions): KvConnection {
  const share = singleFlight<Client, void>()
  let isClosed = false
  const clients = lazy(load, (module): { used: Client; useCluster(): void } => {
    const redis = createRedis(module, url)
    return {
      used: redis,
      useCluster() {
        if (this.used !== redis) return
        this.used = createRedisCluster(module, redis)
        redis.disconnect()
      },
    }
  })

  /**
   * A command after `close` must not connect again:
   * nothing would close that connection, and the process would not exit.
   */
  async function openClients() {
    const opened = isClosed ? null : await clients.get()
    if (opened === null || isClosed) throw new StoreError(`${KEY_VALUE_STORE} is closed`)
    return opened
  }

  function run(call: StoreCall, act: (client: Client) => Promise<unknown>): Promise<unknown> {
    return retryStoreCall(KEY_VALUE_STORE, call, async (signal) => {
      const opened = await openClients()
      const client = opened.used
      await unlessAborted(share(client, () => ready(client)).catch(throwConnectionError), signal)
      const response = act(client).catch((error: unknown) => {
        if (isReply(error) && IN_CLUSTER.includes(redisErrorCode(error.message))) opened.useCluster()
        throwCommandError(error, call)
      })
      // A command that was sent cannot be canceled; the caller only stops waiting.
      return unlessAborted(response, signal).catch((error: unknown) => {
        if (!(error instanceof StoreError || call.signal.aborted)) reportOtherNodes(client, call)
        throw error
      })
    })
  }

  return {
    // Two runs: after a redirection in a cluster, a retry of both would append twice.
    async append(key, values, ttlMs, call) {
      await run(call, (client) => client.rpush(key, ...values))
      await run(call, (client) => client.pexpire(key, ttlMs))
    },
    range: (key, start, stop, call) => run(call, (client) => client.lrange(key, start, stop)),
    evaluate: (script, key, args, call) => run(call, (client) => client.eval(script, 1, key, ...args)),
    async close() {
      isClosed = true
      clients.current?.used.disconnect()
    },
  }
}

/** A node that does not respond is not the whole store: the others say soon which slots they have. */
function reportOtherNodes(client: Client, call: StoreCall): void {
  if ('refreshSlotsCache' in client) client.refreshSlotsCache((error) => error ?? call.onResponse?.())
}

/** Resolves when connected; rejects with the error of the next attempt. */
function ready(client: Client): Promise<void> {
  if (client.status === 'ready') return Promise.resolve()
  if (client.status === 'wait') client.connect().catch(() => {}) // the error event reports it
  return nextAttempt(client)
}

function nextAttempt(client: Client): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: Error) => {
      client.off('ready', settle)
      client.off('error', settle)
      if (error === undefined) resolve()
      else reject(error)
    }
    client.once('ready', settle)
    client.once('error', settle)
  })
}

const IN_CLUSTER = ['MOVED', 'ASK']

const RETRYABLE = [
  ...['LOADING', 'BUSY', 'TRYAGAIN', 'READONLY', 'MASTERDOWN', 'NOREPLICAS', 'CLUSTERDOWN'],
  ...IN_CLUSTER,
]

function throwCommandError(error: unknown, call: StoreCall): never {
  if (!isReply(error)) throw error
  // The store is not down: its next connection may reach a server that accepts the command.
  call.onResponse?.()
  const code = redisErrorCode(error.message)
  throw rejected('the command', code, RETRYABLE.includes(code))
}

/** A password or a database that is rejected may be accepted later, without a restart. */
function throwConnectionError(error: unknown): never {
  // Of a cluster, the error of its last server.
  const cause = error instanceof Error && 'lastNodeError' in error ? error.lastNodeError : error
  throw isReply(cause) ? rejected('the connection', redisErrorCode(cause.message), true) : error
}

function rejected(what: string, code: string, retryable: boolean): StoreError {
  return new StoreError(`${KEY_VALUE_STORE} rejected ${what}${code && ` (${code})`}`, { retryable })
}

/** Any other error comes from the client itself, when it has no connection. */
function isReply(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError'
}
