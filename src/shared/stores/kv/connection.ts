import type { StoreCall } from '../store-call.ts'

/** The subject of its error messages. */
export const KEY_VALUE_STORE = 'The key-value store'

/** Commands of Redis. Each rejects with a `StoreError`, or with the reason of `call.signal`. */
export interface KvConnection {
  /** RPUSH and PEXPIRE; over REST as one request. */
  append(key: string, values: readonly string[], ttlMs: number, call: StoreCall): Promise<void>
  /** LRANGE. `maxBytes` limits the response over REST, where it is read as a whole. */
  range(key: string, start: number, stop: number, call: StoreCall, maxBytes: number): Promise<unknown>
  /** EVAL of a script with one key. */
  evaluate(script: string, key: string, args: readonly (string | number)[], call: StoreCall): Promise<unknown>
  close(): Promise<void>
}
