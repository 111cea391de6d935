import type { Redis } from 'ioredis'
import { unlessAborted } from '../../lib/abort.ts'
import { lazy } from '../../lib/lazy.ts'
import { retryStoreCall, StoreError } from '../store-call.ts'
import { KEY_VALUE_STORE, type KvConnection } from './connection.ts'
import { redisErrorCode } from './redis-error-code.ts'

export interface RedisOptions {
  url: string
  /** Loads the client on the first command; see `docs/decisions/020-what-is-loaded-when.md`. */
  load?: () => Promise<{ Redis: typeof Redis }>
}

const CONNECT_TIMEOUT_MS = 2000

// Commands on a connection that no longer responds stay in memory until it is closed.
const SILENCE_TIMEOUT_MS = 5000

/** Redis over TCP. It connects with the first command, and again whenever the connection is lost. Not for workerd. */
export function redisConnection({ url, load = () => import('./redis-client.ts') }: RedisOptions): KvConnection {
  let isClosed = false
  const client = lazy(load, (module) => createClient(module, url))

  /**
   * A command after `close` must not connect again:
   * nothing would close that connection, and the process would not exit.
   */
  async function openClient(): Promise<Redis> {
    const redis = isClosed ? null : await client.get()
    if (redis === null || isClosed) throw new StoreError(`${KEY_VALUE_STORE} is closed`)
    return redis
  }

  return {
    send: ([name = '', ...args], call) =>
      retryStoreCall(KEY_VALUE_STORE, call, async (signal) => {
        const redis = await openClient()
        await unlessAborted(ready(redis), signal)
        // A command that was sent cannot be canceled; the caller only stops waiting.
        return unlessAborted(redis.call(String(name), ...args).catch(throwRejected), signal)
      }),
    async close() {
      isClosed = true
      client.current?.disconnect()
    },
  }
}

function createClient({ Redis: Client }: { Redis: typeof Redis }, url: string): Redis {
  const redis = new Client(url, {
    lazyConnect: true,
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SILENCE_TIMEOUT_MS,
    // Only `retryStoreCall` retries: a command whose caller has stopped waiting must not be sent later.
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    retryStrategy: (times) => Math.min(times * 100, 1000),
  })
  redis.on('error', () => {}) // the command that failed rejects with it
  return redis
}

const becomingReady = new WeakMap<Redis, Promise<void>>()

/** Resolves when connected; rejects with the error of the next attempt. Concurrent callers share one wait. */
function ready(redis: Redis): Promise<void> {
  if (redis.status === 'ready') return Promise.resolve()
  if (redis.status === 'wait') redis.connect().catch(() => {}) // the error event reports it
  const next = becomingReady.get(redis) ?? nextAttempt(redis).finally(() => becomingReady.delete(redis))
  becomingReady.set(redis, next)
  return next
}

function nextAttempt(redis: Redis): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: Error) => {
      redis.off('ready', settle)
      redis.off('error', settle)
      if (error === undefined) resolve()
      else reject(error)
    }
    redis.once('ready', settle)
    redis.once('error', settle)
  })
}

function throwRejected(error: unknown): never {
  // Any other error comes from the client itself, when it has no connection.
  if (!(error instanceof Error) || error.name !== 'ReplyError') throw error
  const code = redisErrorCode(error.message)
  throw new StoreError(`${KEY_VALUE_STORE} rejected the command${code && ` (${code})`}`, {
    retryable: ['LOADING', 'BUSY', 'TRYAGAIN', 'READONLY'].includes(code),
  })
}
