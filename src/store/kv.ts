/** The key-value store as workers see it, with the verbs of the trace protocol (`docs/protocol.md`) and no others. */
import { createKvReader, type KvOptions, type KvReader, kvConnection, type OutboxMember, texts } from './kv-reader.ts'
import type { StoreCall } from './store-call.ts'

/** Each verb is one step: all of it is done or nothing. */
export interface KvStore extends KvReader {
  /**
   * Adds values to a list and gives it its whole time to live again; makes sure the outbox has the member. One that is there
   * already keeps the time it is due at.
   */
  append(addition: Addition, call: StoreCall): Promise<void>
  /** Gives lists their whole time to live again. */
  keep(lists: readonly string[], ttlMs: number, call: StoreCall): Promise<void>
  /** Members whose time has come by the store's own clock, oldest first. */
  due(outbox: string, limit: number, call: StoreCall): Promise<string[]>
  /** Claims a member that is due for `forMs`. False when it is not due: somebody else has it. */
  claim(member: OutboxMember, forMs: number, call: StoreCall): Promise<boolean>
  /** Claims a member, due or not, unless somebody's claim of it holds. */
  take(member: OutboxMember, forMs: number, call: StoreCall): Promise<Taken>
  /** Moves a member to `delayMs` from now, due or not, and ends its claim. False when it is not there any more. */
  postpone(member: OutboxMember, delayMs: number, call: StoreCall): Promise<boolean>
  /** Deletes the lists and the member. False, and nothing is deleted, when one of the lists has more elements than were read of it. */
  settle(member: OutboxMember, lists: readonly ReadList[], call: StoreCall): Promise<boolean>
}

export type Taken = 'taken' | 'held' | 'gone'

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

export function createKv(options: KvOptions): KvStore {
  const connection = kvConnection(options)
  const run = (script: string, keys: readonly string[], args: readonly (string | number)[], call: StoreCall) =>
    connection.send(['EVAL', script, keys.length, ...keys, ...args], call)

  return {
    ...createKvReader(connection),

    async append({ list, values, ttlMs, open }, call) {
      const keys = open === null ? [list] : [list, open.outbox]
      await run(APPEND, keys, [ttlMs, open?.member ?? '', open?.delayMs ?? 0, ...values], call)
    },

    async keep(lists, ttlMs, call) {
      await run(KEEP, lists, [ttlMs], call)
    },

    due: async (outbox, limit, call) => texts(await run(DUE, [outbox], [limit], call)),
    claim: async ({ outbox, member }, forMs, call) => (await run(CLAIM, [outbox], [member, forMs], call)) === 1,
    take: async ({ outbox, member }, forMs, call) => {
      const taken = await run(TAKE, [outbox], [member, forMs], call)
      return taken === 'taken' || taken === 'held' ? taken : 'gone'
    },
    postpone: async ({ outbox, member }, delayMs, call) => (await run(POSTPONE, [outbox], [member, delayMs], call)) === 1,
    settle: async ({ outbox, member }, lists, call) =>
      (await run(SETTLE, [outbox, ...lists.map(({ key }) => key)], [member, ...lists.map(({ length }) => length)], call)) === 1,
  }
}

// The clock is the store's: those of workers differ.
const NOW = `local time = redis.call('TIME') local now = time[1] * 1000 + math.floor(time[2] / 1000)`

const APPEND = `${NOW}
for i = 4, #ARGV do redis.call('RPUSH', KEYS[1], ARGV[i]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
if KEYS[2] then redis.call('ZADD', KEYS[2], 'NX', now + ARGV[3], ARGV[2]) end`

const KEEP = `for i = 1, #KEYS do redis.call('PEXPIRE', KEYS[i], ARGV[1]) end`

const DUE = `${NOW} return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[1])`

// The half millisecond says that somebody is at it.
const CLAIM = `${NOW}
local dueAt = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not dueAt or tonumber(dueAt) > now then return 0 end
redis.call('ZADD', KEYS[1], now + ARGV[2] + 0.5, ARGV[1])
return 1`

const TAKE = `${NOW}
local dueAt = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or '')
if not dueAt then return 'gone' end
if dueAt > now and dueAt % 1 ~= 0 then return 'held' end
redis.call('ZADD', KEYS[1], now + ARGV[2] + 0.5, ARGV[1])
return 'taken'`

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
