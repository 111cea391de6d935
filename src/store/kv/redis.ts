import type { Redis } from 'ioredis'
import { StoreError, withRetries } from '../store-call.ts'
import type { KvConnection } from './connection.ts'
import { redisCode } from './redis-error-code.ts'

const STORE = 'The key-value store'

const CONNECT_TIMEOUT_MS = 2000

// What is sent on a connection that has gone silent stays in memory until that is given up.
const SILENCE_TIMEOUT_MS = 5000

/** Redis over TCP, connected with the first command and again whenever the connection is lost. Not for workerd. */
export function redisConnection(url: string): KvConnection {
  let connecting: Promise<Redis> | null = null
  let isClosed = false
  const connection = () => {
    // Somebody late must not connect again: nobody would end that, nor the process.
    if (isClosed) throw new StoreError(`${STORE} is closed`)
    connecting ??= connect(url)
    return connecting
  }
  return {
    send: ([name = '', ...args], call) =>
      withRetries(STORE, call, async (signal) => {
        const redis = await connection()
        await unlessAborted(signal, ready(redis))
        return unlessAborted(signal, redis.call(String(name), ...args).catch(refused))
      }),
    async close() {
      isClosed = true
      const redis = await connecting
      redis?.disconnect()
    },
  }
}

async function connect(url: string): Promise<Redis> {
  // Not before somebody has set a store of this kind: it is a quarter of a megabyte, and nothing for workerd.
  const { Redis } = await import('./redis-client.ts')
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SILENCE_TIMEOUT_MS,
    // How often and how long something is tried is decided by who asks: what was given up must not be sent later.
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    retryStrategy: (times) => Math.min(times * 100, 1000),
  })
  redis.on('error', () => {}) // told to whoever has sent a command
  return redis
}

const becomingReady = new WeakMap<Redis, Promise<void>>()

/** Resolves when it is connected; rejects with what the next try meets. One wait for all who wait. */
function ready(redis: Redis): Promise<void> {
  if (redis.status === 'ready') return Promise.resolve()
  if (redis.status === 'wait') redis.connect().catch(() => {}) // told by the error event
  const next = becomingReady.get(redis) ?? nextTry(redis).finally(() => becomingReady.delete(redis))
  becomingReady.set(redis, next)
  return next
}

function nextTry(redis: Redis): Promise<void> {
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

function refused(error: unknown): never {
  // Of the library's own making, and raised for want of a connection.
  if (!(error instanceof Error) || error.name !== 'ReplyError') throw error
  const code = redisCode(error.message)
  throw new StoreError(`${STORE} refused${code}`, { passing: /LOADING|BUSY|TRYAGAIN|READONLY/.test(code) })
}

/** A command can't be taken back; its caller need not wait for it. */
function unlessAborted<T>(signal: AbortSignal, sent: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort)
    sent.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
