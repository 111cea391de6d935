import type { KvConnection } from './connection.ts'
import { redisConnection } from './redis.ts'
import { upstashConnection } from './upstash.ts'

export interface KvOptions {
  /** `redis://`, `rediss://`, or `https://` for Upstash REST; may contain a password. */
  url: string
  /** Upstash's token, unless it is the URL's password. */
  token: string | null
  fetch?: typeof globalThis.fetch
}

/** It connects with the first command. */
export function createKvConnection({ url, token, fetch = globalThis.fetch }: KvOptions): KvConnection {
  return /^https?:/.test(url) ? upstashConnection({ url, token, fetch }) : redisConnection({ url })
}
