/** The clients of Redis over TCP, which print nothing and never repeat a command by themselves. */
import type { Cluster, Redis, RedisOptions } from 'ioredis'
import { isObject } from '../../lib/json.ts'
import { redisErrorCode } from './redis-error-code.ts'

export interface RedisModule {
  Redis: typeof Redis
}

const CONNECT_TIMEOUT_MS = 2000

// Commands on a connection that no longer responds stay in memory until it is closed.
const SILENCE_TIMEOUT_MS = 5000

// A server that was demoted or restarted, while new connections may reach the primary.
const NEEDS_NEW_CONNECTION = ['READONLY', 'LOADING', 'MASTERDOWN']

const OPTIONS = {
  connectTimeout: CONNECT_TIMEOUT_MS,
  socketTimeout: SILENCE_TIMEOUT_MS,
  // Only `retryStoreCall` retries: a command whose caller has stopped waiting must not be sent later.
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  reconnectOnError: ({ message }) => NEEDS_NEW_CONNECTION.includes(redisErrorCode(message)),
  // They need further permissions, and print a line without them.
  enableReadyCheck: false,
  disableClientInfo: true,
} satisfies RedisOptions

export function createRedis({ Redis: Client }: RedisModule, url: string): Redis {
  // The client counts attempts anew after each connection, also if its database was rejected.
  let rejectedSelects = 0
  const redis = new Client(url, {
    ...OPTIONS,
    lazyConnect: true,
    enableOfflineQueue: false,
    retryStrategy: (times) => Math.min((times + rejectedSelects) * 100, 1000),
  })
  redis.on('error', (error) => {
    // The client would use database 0 instead. Any other error rejects the command that failed.
    if (!isRejectedSelect(error)) return
    rejectedSelects++
    redis.disconnect(true)
  })
  return redis
}

function isRejectedSelect(error: unknown): boolean {
  return isObject(error) && isObject(error.command) && error.command.name === 'select'
}

/** A client of the cluster that the server of `redis` belongs to. */
export function createRedisCluster({ Redis: Client }: RedisModule, { options }: Redis): Cluster {
  const { host = 'localhost', port = 6379, password, username, family } = options
  const cluster = new Client.Cluster([{ host, port }], {
    lazyConnect: true,
    enableOfflineQueue: false,
    enableReadyCheck: false,
    slotsRefreshTimeout: CONNECT_TIMEOUT_MS,
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    // A certificate is valid for the name, not for its address.
    dnsLookup: (name, done) => done(null, name),
    redisOptions: {
      ...OPTIONS,
      ...(password && { password, username: username || 'default' }),
      ...(family && { family }),
      ...(options.tls && { tls: options.tls }),
    },
  })
  cluster.on('error', () => {}) // `ready` rejects with it
  // Nothing is subscribed to. The connection for it would be one more, and prints a line if it may not use INFO.
  const subscriber: unknown = Reflect.get(cluster, 'subscriber')
  if (isObject(subscriber)) subscriber.start = () => {}
  return cluster
}
