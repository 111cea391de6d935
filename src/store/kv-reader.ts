/** The key-value store as the API sees it: it only reads. */
import { redisConnection } from './kv-redis.ts'
import { upstashConnection } from './kv-upstash.ts'
import { type StoreCall, StoreError } from './store-call.ts'

/** Every verb rejects with a `StoreError`, or with the reason of `call.signal`. Each is one step: all of it is done or nothing. */
export interface KvReader {
  /** The elements of a list, oldest first, as far as there is room, which they take; and how many it has. No list is an empty one. */
  readList(key: string, room: Room, call: StoreCall): Promise<{ values: string[]; length: number }>
  /** Whether the list exists or the outbox has the member. */
  isWaiting(list: string, member: OutboxMember, call: StoreCall): Promise<boolean>

  close(): Promise<void>
}

/** For several lists together. */
export interface Room {
  /** Bytes. */
  left: number
}

export interface OutboxMember {
  /** Key of the sorted set. */
  outbox: string
  member: string
}

export interface KvOptions {
  /** `redis://`, `rediss://`, or `https://` for Upstash REST; may hold a password. */
  url: string
  /** Upstash's token when it is not the URL's password. */
  token: string | null
  fetch?: typeof globalThis.fetch
}

/** One way to send commands. Rejects with a `StoreError` or with what `withRetries` makes one of. */
export interface KvConnection {
  send(command: readonly (string | number)[], call: StoreCall, maxBytes?: number): Promise<unknown>
  close(): Promise<void>
}

/** Nothing is connected before the first command. */
export function kvConnection({ url, token, fetch = globalThis.fetch }: KvOptions): KvConnection {
  return /^https?:/.test(url) ? upstashConnection({ url, token, fetch }) : redisConnection(url)
}

// What is read at once; Upstash's answers are bounded.
const PAGE = 100
const PAGE_BYTES = 512 * 1024

export function createKvReader(connection: KvConnection): KvReader {
  return {
    async readList(key, room, call) {
      const values: string[] = []
      while (true) {
        const script = ['EVAL', READ, 1, key, values.length, PAGE, PAGE_BYTES, room.left]
        const [length, ...page] = texts(await connection.send(script, call, Math.max(0, room.left)))
        for (const value of page) room.left -= byteLength(value)
        values.push(...page)
        if (page.length === 0 || values.length >= Number(length)) return { values, length: Math.max(values.length, Number(length)) }
      }
    },

    isWaiting: async (list, { outbox, member }, call) => (await connection.send(['EVAL', IS_WAITING, 2, list, outbox, member], call)) === 1,

    close: () => connection.close(),
  }
}

// Lua runs as one step, over TCP and over REST alike.

// The length, and from ARGV[1] on at most ARGV[2] elements: of ARGV[3] bytes or one that has more, as long as ARGV[4] has room.
const READ = `local answer, bytes = { tostring(redis.call('LLEN', KEYS[1])) }, 0
for i, value in ipairs(redis.call('LRANGE', KEYS[1], ARGV[1], ARGV[1] + ARGV[2] - 1)) do
  bytes = bytes + #value
  if bytes > tonumber(ARGV[4]) or (i > 1 and bytes > tonumber(ARGV[3])) then break end
  answer[i + 1] = value
end
return answer`

const IS_WAITING = `return (redis.call('EXISTS', KEYS[1]) == 1 or redis.call('ZSCORE', KEYS[2], ARGV[1])) and 1 or 0`

export function texts(answer: unknown): string[] {
  if (Array.isArray(answer) && answer.every((value) => typeof value === 'string')) return answer
  throw new StoreError('The key-value store answered something else than a list of texts')
}

const encoder = new TextEncoder()

function byteLength(text: string): number {
  return encoder.encode(text).length
}
