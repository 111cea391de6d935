/** The key-value store, with the few commands that the trace protocol needs (`docs/protocol.md`). */

import { type StoreCall, StoreError } from '../store-call.ts'
import type { KvOptions } from './connection.ts'
import { kvConnection } from './create-connection.ts'

/** Every verb rejects with a `StoreError`, or with the reason of `call.signal`. */
export interface KvStore {
  /** Adds values to the end of a list and renews its time to live. May be done twice when an answer is lost. */
  append(key: string, values: readonly string[], ttlMs: number, call: StoreCall): Promise<void>
  /** The elements of a list, oldest first, as far as `maxBytes` allow; a missing list is empty. */
  readList(key: string, maxBytes: number, call: StoreCall): Promise<{ values: string[]; complete: boolean }>
  /** Removes what was read from the front of a list, unless somebody else has removed it. */
  trim(key: string, read: readonly string[], call: StoreCall): Promise<void>
  close(): Promise<void>
}

// Of one answer.
const PAGE = 100

export function createKv(options: KvOptions): KvStore {
  const connection = kvConnection(options)
  return {
    async append(key, values, ttlMs, call) {
      if (values.length === 0) return
      await connection.send(['RPUSH', key, ...values], call)
      await connection.send(['PEXPIRE', key, ttlMs], call)
    },

    async readList(key, maxBytes, call) {
      const values: string[] = []
      for (let left = maxBytes; ; ) {
        const page = strings(
          await connection.send(['LRANGE', key, values.length, values.length + PAGE - 1], call, left),
        )
        for (const value of page) {
          left -= byteLength(value)
          if (left < 0) return { values, complete: false }
          values.push(value)
        }
        if (page.length < PAGE) return { values, complete: true }
      }
    },

    async trim(key, read, call) {
      const [first] = strings(await connection.send(['LRANGE', key, 0, 0], call))
      if (first !== undefined && first === read[0]) await connection.send(['LTRIM', key, read.length, -1], call)
    },

    close: () => connection.close(),
  }
}

function strings(answer: unknown): string[] {
  if (Array.isArray(answer) && answer.every((value) => typeof value === 'string')) return answer
  throw new StoreError('The key-value store did not return a list of strings')
}

const encoder = new TextEncoder()

function byteLength(text: string): number {
  return encoder.encode(text).length
}
