import type { KvConnection, KvOptions } from './connection.ts'
import { redisConnection } from './redis.ts'
import { upstashConnection } from './upstash.ts'

/** Nothing is connected before the first command. */
export function kvConnection({ url, token, fetch = globalThis.fetch }: KvOptions): KvConnection {
  return /^https?:/.test(url) ? upstashConnection({ url, token, fetch }) : redisConnection(url)
}
