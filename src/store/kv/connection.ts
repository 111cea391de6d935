import type { StoreCall } from '../store-call.ts'

export interface KvOptions {
  /** `redis://`, `rediss://`, or `https://` for Upstash REST; may hold a password. */
  url: string
  /** Upstash's token when it is not the URL's password. */
  token: string | null
  fetch?: typeof globalThis.fetch
}

/** One way to send commands. Rejects with a `StoreError`, or with the reason of `call.signal`. */
export interface KvConnection {
  /** `maxBytes` bounds the answer where it is read as a whole (REST). */
  send(command: readonly (string | number)[], call: StoreCall, maxBytes?: number): Promise<unknown>
  close(): Promise<void>
}
