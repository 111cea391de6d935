import { sha256 } from '../protocol/sha256.ts'
import {
  createObjectReader,
  type ObjectReader,
  type ObjectRef,
  type ObjectStoreOptions,
  refusal,
  refusalCode,
  STORE,
  signedRequests,
} from './object-reader.ts'
import { type StoreCall, withRetries } from './store-call.ts'

/** Object storage that speaks S3, as workers see it. */
export interface ObjectStore extends ObjectReader {
  /** Writes the object as a whole, over one that is there. */
  put(object: ObjectRef, body: Uint8Array<ArrayBuffer>, contentType: string, call: StoreCall): Promise<void>
}

export function createObjectStore(options: ObjectStoreOptions): ObjectStore {
  const send = signedRequests(options)
  return {
    ...createObjectReader(options),

    async put(object, body, contentType, call) {
      const headers = { 'content-type': contentType, 'x-amz-content-sha256': await sha256(body) }
      await withRetries(STORE, call, async (signal) => {
        const response = await send(object, { method: 'PUT', headers, body }, signal)
        if (!response.ok) throw refusal(response, await refusalCode(response))
        await response.body?.cancel()
      })
    },
  }
}
