import type { StoreCall } from '../store-call.ts'

/** The subject of its error messages. */
export const KEY_VALUE_STORE = 'The key-value store'

/** Sends Redis commands. Rejects with a `StoreError`, or with the reason of `call.signal`. */
export interface KvConnection {
  /** `maxBytes` limits the response over REST, where it is read as a whole. */
  send(command: readonly (string | number)[], call: StoreCall, maxBytes?: number): Promise<unknown>
  close(): Promise<void>
}
