import { readResponseBody, retryStoreCall, type StoreCall } from '../store-call.ts'
import type { ObjectRef } from './object-url.ts'
import {
  errorCodeOf,
  OBJECT_STORAGE,
  type ObjectStoreOptions,
  signedRequests,
  unexpectedResponse,
} from './signed-requests.ts'

/** S3 as the API uses it. Every method rejects with a `StoreError`, or with the reason of `call.signal`. */
export interface ObjectReader {
  /** Null when the object does not exist. Rejects when it is larger than `maxBytes`. */
  get(object: ObjectRef, maxBytes: number, call: StoreCall): Promise<StoredObject | null>
}

export interface StoredObject {
  text: string
  /** The ETag of this version. */
  etag: string
}

export function createObjectReader(options: ObjectStoreOptions): ObjectReader {
  const send = signedRequests(options)
  return {
    get: (object, maxBytes, call) =>
      retryStoreCall(OBJECT_STORAGE, call, async (signal) => {
        const response = await send(object, { method: 'GET' }, signal)
        // With these statuses a gateway reports that the store is down.
        if (![502, 503, 504].includes(response.status)) call.onResponse?.()
        if (response.status === 200) {
          return {
            text: await readResponseBody(OBJECT_STORAGE, response, maxBytes),
            etag: response.headers.get('etag') ?? '',
          }
        }
        const code = await errorCodeOf(response)
        if (response.status === 404 && (code === 'NoSuchKey' || code === '')) return null
        throw unexpectedResponse(response, code)
      }),
  }
}
