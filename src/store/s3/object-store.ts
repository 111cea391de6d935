import { sha256 } from '../../lib/sha256.ts'
import { type StoreCall, withRetries } from '../store-call.ts'
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

/** Object storage that speaks S3, as workers see it. */
export interface ObjectStore extends ObjectReader {
  exists(object: ObjectRef, call: StoreCall): Promise<boolean>
  /**
   * Writes the whole object: where `etag` is null only if there is none yet, otherwise only over that very version.
   * False when the condition does not hold. Servers without conditional writes write always.
   *
   * https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html
   */
  put(object: ObjectRef, body: PutBody, call: StoreCall): Promise<boolean>
  /** Rejects when the bucket is missing or may not be used. */
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
      withRetries(STORE, call, async (signal) => {
        // Not HEAD: undici opens a connection of its own for each.
        const response = await send(object, { method: 'GET', headers: { range: 'bytes=0-0' } }, signal)
        if (response.ok) {
          await response.body?.cancel()
          return true
        }
        const code = await refusalCode(response)
        if (response.status === 404) return false
        throw refusal(response, code)
      }),

    async put(object, { bytes, contentType, etag }, call) {
      const condition = etag === null ? { 'if-none-match': '*' } : { 'if-match': etag }
      const headers = { 'content-type': contentType, 'x-amz-content-sha256': await sha256(bytes), ...condition }
      return withRetries(STORE, call, async (signal) => {
        const response = await send(object, { method: 'PUT', headers, body: bytes }, signal)
        if (response.ok) {
          await response.body?.cancel()
          return true
        }
        const code = await refusalCode(response)
        // 409: somebody else is writing it at this moment; 404 with If-Match: it has been deleted.
        if (response.status === 412 || response.status === 409 || (response.status === 404 && code === 'NoSuchKey'))
          return false
        throw refusal(response, code)
      })
    },

    checkBucket: (bucket, call) =>
      withRetries(STORE, call, async (signal) => {
        // A key that is never written: only a GET answers with the code that tells a missing bucket from a missing object.
        const response = await send({ bucket, key: 'traces/.check' }, { method: 'GET' }, signal)
        const code = await refusalCode(response)
        if (!response.ok && (response.status !== 404 || code === 'NoSuchBucket')) throw refusal(response, code)
      }),
  }
}
