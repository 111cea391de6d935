import type { Redis } from '@upstash/redis'
import { lazy } from '../../lib/cache.ts'
import { isObject } from '../../lib/json.ts'
import { readResponseBody, retryStoreCall, type StoreCall, StoreError } from '../store-call.ts'
import { KEY_VALUE_STORE, type KvConnection } from './connection.ts'
import { redisErrorCode } from './redis-error-code.ts'

export interface UpstashOptions {
  url: string
  token: string | null
  fetch: typeof globalThis.fetch
}

const SMALL_RESPONSE_BYTES = 1024 * 1024

/** Redis over Upstash's REST API: the commands of their client, over a transport of ours (decision 019). */
export function upstashConnection({ url, token, fetch }: UpstashOptions): KvConnection {
  const address = new URL(url)
  const headers = {
    authorization: `Bearer ${token ?? decodeURIComponent(address.password)}`,
    'content-type': 'application/json',
  }
  address.username = ''
  address.password = ''
  const clients = lazy(
    () => import('@upstash/redis'),
    ({ Redis }) => Redis,
  )

  function run(call: StoreCall, act: (redis: Redis) => Promise<unknown>, maxBytes = 0): Promise<unknown> {
    return retryStoreCall(KEY_VALUE_STORE, call, async (signal) => {
      const Client = await clients.get()
      // Their deserialization would parse values as JSON, which rounds numbers. The token is in our headers only.
      const options = { automaticDeserialization: false, enableAutoPipelining: false }
      const redis = new Client({ url: address.href, token: 'unused', ...options })
      // It never calls `next`, their transport.
      redis.use(async ({ path = [], body }) => {
        const init = { method: 'POST', headers, body: JSON.stringify(body), redirect: 'manual' as const, signal }
        const response = await fetch(join(address, path), init)
        // The values are JSON inside JSON: escaped quotes can double their size.
        const limit = 2 * maxBytes + SMALL_RESPONSE_BYTES
        return resultsIn(response.status, await readResponseBody(KEY_VALUE_STORE, response, limit))
      })
      return act(redis)
    })
  }

  return {
    async append(key, [first = '', ...others], ttlMs, call) {
      const add = (redis: Redis) =>
        redis
          .pipeline()
          .rpush(key, first, ...others)
          .pexpire(key, ttlMs)
          .exec()
      await run(call, add)
    },
    range: (key, start, stop, call, maxBytes) => run(call, (redis) => redis.lrange(key, start, stop), maxBytes),
    evaluate: (script, key, args, call) => run(call, (redis) => redis.eval(script, [key], [...args])),
    close: async () => {},
  }
}

function join(address: URL, path: readonly string[]): string {
  const joined = new URL(address)
  joined.pathname = [address.pathname.replace(/\/$/, ''), ...path].join('/')
  return joined.href
}

/** The result of a command, or those of a pipeline. Their client would put errors of commands into messages. */
function resultsIn(status: number, json: string): object {
  const body = parse(json)
  const results = Array.isArray(body) ? body : [body]
  const failed = results.find((result) => !isObject(result) || !('result' in result))
  if (status === 200 && body !== null && failed === undefined) return body
  const code = isObject(failed) && 'error' in failed ? redisErrorCode(String(failed.error)) : ''
  const what = status === 200 && code !== '' ? 'rejected the command' : `returned ${status}`
  throw new StoreError(`${KEY_VALUE_STORE} ${what}${code && ` (${code})`}`, {
    retryable: status >= 500 || status === 429,
  })
}

function parse(json: string): object | null {
  try {
    const body: unknown = JSON.parse(json)
    return typeof body === 'object' ? body : null
  } catch {
    return null // the error then has only the status
  }
}
