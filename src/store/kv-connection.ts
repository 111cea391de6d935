import type { KvConnection, KvOptions } from './kv-port.ts'
import { redisConnection } from './kv-redis.ts'
import { upstashConnection } from './kv-upstash.ts'

/** Nothing is connected before the first command. */
export function kvConnection({ url, token, fetch = globalThis.fetch }: KvOptions): KvConnection {
  return /^https?:/.test(url) ? upstashConnection({ url, token, fetch }) : redisConnection(url)
}
