import { sha256 } from '../../lib/digest.ts'
import { retryStoreCall, type StoreCall } from '../store-call.ts'
import { createObjectReader, type ObjectReader } from './object-reader.ts'
import type { ObjectRef } from './object-url.ts'
import {
  errorCodeOf,
  OBJECT_STORAGE,
  type ObjectStoreOptions,
  signedRequests,
  unexpectedResponse,
} from './signed-requests.ts'

/** S3 as workers use it. */
export interface ObjectStore extends ObjectReader {
  exists(object: ObjectRef, call: StoreCall): Promise<boolean>
  /**
   * Writes the whole object: with `etag` null only if it does not exist yet, otherwise only over that version.
   * False when the condition does not hold. Servers without conditional writes always write.
   *
   * https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html
   */
  put(object: ObjectRef, body: PutBody, call: StoreCall): Promise<boolean>
  /** Rejects when the bucket does not exist or access is denied. */
  checkBucket(bucket: string, call: StoreCall): Promise<void>
}

export interface PutBody {
  bytes: Uint8Array<ArrayBuffer>
  contentType: string
  etag: string | null
}

export function createObjectStore(options: ObjectStoreOptions): ObjectStore {
  const send = signedRequests(options)
  return {
    ...createObjectReader(options),

    exists: (object, call) =>
      retryStoreCall(OBJECT_STORAGE, call, async (signal) => {
        // Not HEAD: undici opens a new connection for each.
        const response = await send(object, { method: 'GET', headers: { range: 'bytes=0-0' } }, signal)
        if (response.ok) {
          await response.body?.cancel()
          return true
        }
        const code = await errorCodeOf(response)
        if (response.status === 404) return false
        throw unexpectedResponse(response, code)
      }),

    async put(object, { bytes, contentType, etag }, call) {
      const condition = etag === null ? { 'if-none-match': '*' } : { 'if-match': strongEtag(etag) }
      const headers = { 'content-type': contentType, 'x-amz-content-sha256': await sha256(bytes), ...condition }
      return retryStoreCall(OBJECT_STORAGE, call, async (signal) => {
        const response = await send(object, { method: 'PUT', headers, body: bytes }, signal)
        if (response.ok) {
          await response.body?.cancel()
          return true
        }
        const code = await errorCodeOf(response)
        // 409: another write is in progress; 404 with If-Match: the object was deleted.
        if (response.status === 412 || response.status === 409 || (response.status === 404 && code === 'NoSuchKey'))
          return false
        throw unexpectedResponse(response, code)
      })
    },

    checkBucket: (bucket, call) =>
      retryStoreCall(OBJECT_STORAGE, call, async (signal) => {
        // This key is never written. Only a GET distinguishes a missing bucket from a missing object.
        const response = await send({ bucket, key: 'traces/.check' }, { method: 'GET' }, signal)
        const code = await errorCodeOf(response)
        if (!response.ok && (response.status !== 404 || code === 'NoSuchBucket'))
          throw unexpectedResponse(response, code)
      }),
  }
}

/** Proxies that compress a response weaken its ETag; S3 then compares the rest, which identifies the object's bytes. */
function strongEtag(etag: string): string {
  return etag.replace(/^W\//, '')
}
