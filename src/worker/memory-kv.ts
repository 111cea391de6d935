import type { KvStore } from '../store/kv.ts'
import type { OutboxMember } from '../store/kv-reader.ts'

/**
 * The key-value store of a worker that has none: for local development. What it holds is gone with the process. Lists have no
 * time to live, for their bound is in bytes: beyond `maxBytes` the oldest elements go, and `dropped` is told how many.
 */
export function createMemoryKv({ maxBytes, dropped }: { maxBytes: number; dropped: (count: number) => void }): KvStore {
  const lists = new Map<string, string[]>()
  const outboxes = new Map<string, Map<string, number>>()
  let bytes = 0

  const outbox = (name: string) => {
    const dueAt = outboxes.get(name) ?? new Map<string, number>()
    outboxes.set(name, dueAt)
    return dueAt
  }
  const has = ({ outbox: name, member }: OutboxMember) => outbox(name).has(member)

  function remove(key: string): void {
    for (const value of lists.get(key) ?? []) bytes -= value.length
    lists.delete(key)
  }

  function shrink(): void {
    let count = 0
    for (const [key, values] of lists) {
      while (bytes > maxBytes && values.length > 0) {
        bytes -= values.shift()?.length ?? 0
        count++
      }
      if (values.length === 0) lists.delete(key)
      if (bytes <= maxBytes) break
    }
    if (count > 0) dropped(count)
  }

  return {
    async readList(key, room) {
      const all = lists.get(key) ?? []
      const values: string[] = []
      for (const value of all) {
        if (value.length > room.left) break
        room.left -= value.length
        values.push(value)
      }
      return { values, length: all.length }
    },
    isWaiting: async (list, member) => lists.has(list) || has(member),
    async append({ list, values, open }) {
      if (values.length > 0) lists.set(list, [...(lists.get(list) ?? []), ...values])
      for (const value of values) bytes += value.length
      shrink()
      if (open !== null && !has(open)) outbox(open.outbox).set(open.member, Date.now() + open.delayMs)
    },
    keep: async () => {},
    async due(name, limit) {
      const waiting = [...outbox(name)].filter(([, dueAt]) => dueAt <= Date.now())
      return waiting
        .sort(([, a], [, b]) => a - b)
        .slice(0, limit)
        .map(([member]) => member)
    },
    async claim(member, forMs) {
      const dueAt = outbox(member.outbox).get(member.member)
      if (dueAt === undefined || dueAt > Date.now()) return false
      outbox(member.outbox).set(member.member, Date.now() + forMs + 0.5)
      return true
    },
    async take(member, forMs) {
      const dueAt = outbox(member.outbox).get(member.member)
      if (dueAt === undefined) return 'gone'
      if (dueAt > Date.now() && !Number.isInteger(dueAt)) return 'held'
      outbox(member.outbox).set(member.member, Date.now() + forMs + 0.5)
      return 'taken'
    },
    async postpone(member, delayMs) {
      if (has(member)) outbox(member.outbox).set(member.member, Date.now() + delayMs)
      return has(member)
    },
    async settle({ outbox: name, member }, read) {
      if (read.some(({ key, length }) => (lists.get(key)?.length ?? 0) > length)) return false
      outbox(name).delete(member)
      for (const { key } of read) remove(key)
      return true
    },
    close: async () => {},
  }
}
