/** The key-value store, with the verbs of the trace protocol (`docs/protocol.md`) and no others. */
import { redisConnection } from './kv-redis.ts'
import { upstashConnection } from './kv-upstash.ts'
import { type StoreCall, StoreError } from './store-call.ts'

/** Every verb rejects with a `StoreError`, or with the reason of `call.signal`. Each is one step: all of it is done or nothing. */
export interface KvStore {
  /** The elements of a list, oldest first, as far as there is room, which they take; and how many it has. No list is an empty one. */
  readList(key: string, room: Room, call: StoreCall): Promise<{ values: string[]; length: number }>
  /** Whether the list exists or the outbox has the member. */
  isWaiting(list: string, member: OutboxMember, call: StoreCall): Promise<boolean>

  /**
   * Adds values to a list and gives it its whole time to live again; makes sure the outbox has the member. One that is there
   * already keeps the time it is due at.
   */
  append(addition: Addition, call: StoreCall): Promise<void>
  /** Gives lists their whole time to live again. */
  keep(lists: readonly string[], ttlMs: number, call: StoreCall): Promise<void>
  /** Members whose time has come by the store's own clock, oldest first. */
  due(outbox: string, limit: number, call: StoreCall): Promise<string[]>
  /** Moves a member that is due on by `forMs`. False when it is not due: somebody else has it. */
  claim(member: OutboxMember, forMs: number, call: StoreCall): Promise<boolean>
  /** Moves a member to `delayMs` from now, due or not. False when it is not there any more. */
  postpone(member: OutboxMember, delayMs: number, call: StoreCall): Promise<boolean>
  /** Deletes the lists and the member. False, and nothing is deleted, when one of the lists has more elements than were read of it. */
  settle(member: OutboxMember, lists: readonly ReadList[], call: StoreCall): Promise<boolean>

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

export interface Addition {
  list: string
  values: readonly string[]
  ttlMs: number
  /** Null: only the list is written. */
  open: (OutboxMember & { delayMs: number }) | null
}

export interface ReadList {
  key: string
  length: number
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

/** Nothing is connected before the first verb. */
export function createKv({ url, token, fetch = globalThis.fetch }: KvOptions): KvStore {
  return overConnection(/^https?:/.test(url) ? upstashConnection({ url, token, fetch }) : redisConnection(url))
}

// What is read at once; Upstash's answers are bounded.
const PAGE = 100
const PAGE_BYTES = 512 * 1024

function overConnection(connection: KvConnection): KvStore {
  const run = (script: string, keys: readonly string[], args: readonly (string | number)[], call: StoreCall) =>
    connection.send(['EVAL', script, keys.length, ...keys, ...args], call)

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

    isWaiting: async (list, { outbox, member }, call) => (await run(IS_WAITING, [list, outbox], [member], call)) === 1,

    async append({ list, values, ttlMs, open }, call) {
      const keys = open === null ? [list] : [list, open.outbox]
      await run(APPEND, keys, [ttlMs, open?.member ?? '', open?.delayMs ?? 0, ...values], call)
    },

    async keep(lists, ttlMs, call) {
      await run(KEEP, lists, [ttlMs], call)
    },

    due: async (outbox, limit, call) => texts(await run(DUE, [outbox], [limit], call)),
    claim: async ({ outbox, member }, forMs, call) => (await run(CLAIM, [outbox], [member, forMs], call)) === 1,
    postpone: async ({ outbox, member }, delayMs, call) => (await run(POSTPONE, [outbox], [member, delayMs], call)) === 1,
    settle: async ({ outbox, member }, lists, call) =>
      (await run(SETTLE, [outbox, ...lists.map(({ key }) => key)], [member, ...lists.map(({ length }) => length)], call)) === 1,

    close: () => connection.close(),
  }
}

// Lua runs as one step, over TCP and over REST alike. The clock is the store's: those of workers differ.
const NOW = `local time = redis.call('TIME') local now = time[1] * 1000 + math.floor(time[2] / 1000)`

// The length, and from ARGV[1] on at most ARGV[2] elements: of ARGV[3] bytes or one that has more, as long as ARGV[4] has room.
const READ = `local answer, bytes = { tostring(redis.call('LLEN', KEYS[1])) }, 0
for i, value in ipairs(redis.call('LRANGE', KEYS[1], ARGV[1], ARGV[1] + ARGV[2] - 1)) do
  bytes = bytes + #value
  if bytes > tonumber(ARGV[4]) or (i > 1 and bytes > tonumber(ARGV[3])) then break end
  answer[i + 1] = value
end
return answer`

const IS_WAITING = `return (redis.call('EXISTS', KEYS[1]) == 1 or redis.call('ZSCORE', KEYS[2], ARGV[1])) and 1 or 0`

const APPEND = `${NOW}
for i = 4, #ARGV do redis.call('RPUSH', KEYS[1], ARGV[i]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
if KEYS[2] then redis.call('ZADD', KEYS[2], 'NX', now + ARGV[3], ARGV[2]) end`

const KEEP = `for i = 1, #KEYS do redis.call('PEXPIRE', KEYS[i], ARGV[1]) end`

const DUE = `${NOW} return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[1])`

const CLAIM = `${NOW}
local dueAt = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not dueAt or tonumber(dueAt) > now then return 0 end
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
return 1`

const POSTPONE = `${NOW}
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
return 1`

const SETTLE = `
for i = 2, #KEYS do
  if redis.call('LLEN', KEYS[i]) > tonumber(ARGV[i]) then return 0 end
end
redis.call('ZREM', KEYS[1], ARGV[1])
for i = 2, #KEYS do redis.call('DEL', KEYS[i]) end
return 1`

function texts(answer: unknown): string[] {
  if (Array.isArray(answer) && answer.every((value) => typeof value === 'string')) return answer
  throw new StoreError('The key-value store answered something else than a list of texts')
}

const encoder = new TextEncoder()

function byteLength(text: string): number {
  return encoder.encode(text).length
}
