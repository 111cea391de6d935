/** The key-value store, with the few commands that the trace protocol needs (`docs/protocol.md`). */
import { type StoreCall, StoreError } from '../store-call.ts'
import { KEY_VALUE_STORE, type KvConnection } from './connection.ts'
import { redisConnection } from './redis.ts'
import { upstashConnection } from './upstash.ts'

/** Every method rejects with a `StoreError`, or with the reason of `call.signal`. */
export interface KvStore {
  /** Appends to a list and renews its time to live. A retry after a lost response may append twice. */
  append(key: string, values: readonly string[], ttlMs: number, call: StoreCall): Promise<void>
  /** The elements of a list, oldest first, up to `maxBytes`. A missing list is empty. */
  readList(key: string, maxBytes: number, call: StoreCall): Promise<{ values: string[]; complete: boolean }>
  /**
   * Removes the elements that were read from the front of a list, unless they are already removed. Atomic, and may be
   * repeated.
   */
  trim(key: string, read: readonly string[], call: StoreCall): Promise<void>
  close(): Promise<void>
}

const PAGE_SIZE = 100

// Compares the first and the last element: an element that was appended twice may be at the front again.
const TRIM = `
local count = tonumber(ARGV[1])
if redis.call('LINDEX', KEYS[1], 0) == ARGV[2] and redis.call('LINDEX', KEYS[1], count - 1) == ARGV[3] then
  redis.call('LTRIM', KEYS[1], count, -1)
end
return 0`

export function createKvStore(options: KvOptions): KvStore {
  const connection = createKvConnection(options)
  return {
    async append(key, values, ttlMs, call) {
      if (values.length === 0) return
      await connection.append(key, values, ttlMs, call)
    },

    async readList(key, maxBytes, call) {
      const values: string[] = []
      for (let left = maxBytes; ; ) {
        const stop = values.length + PAGE_SIZE - 1
        const page = toStrings(await connection.range(key, values.length, stop, call, left))
        call.onResponse?.()
        for (const value of page) {
          left -= byteLength(value)
          if (left < 0) return { values, complete: false }
          values.push(value)
        }
        if (page.length < PAGE_SIZE) return { values, complete: true }
      }
    },

    async trim(key, read, call) {
      const [first, last] = [read[0], read.at(-1)]
      if (first === undefined || last === undefined) return
      await connection.evaluate(TRIM, key, [read.length, first, last], call)
    },

    close: () => connection.close(),
  }
}

function toStrings(result: unknown): string[] {
  if (Array.isArray(result) && result.every((value) => typeof value === 'string')) return result
  throw new StoreError(`${KEY_VALUE_STORE} did not return a list of strings`)
}

const encoder = new TextEncoder()

function byteLength(value: string): number {
  return encoder.encode(value).length
}

interface KvOptions {
  /** `redis://`, `rediss://`, or `https://` for Upstash REST; may contain a password. */
  url: string
  /** Upstash's token, unless it is the URL's password. */
  token: string | null
  fetch?: typeof globalThis.fetch
}

/** It connects with the first command. */
function createKvConnection({ url, token, fetch = globalThis.fetch }: KvOptions): KvConnection {
  return /^https?:/.test(url) ? upstashConnection({ url, token, fetch }) : redisConnection({ url })
}
