import { AwsClient } from 'aws4fetch'
import { readResponseBody, StoreError } from '../store-call.ts'
import { type ObjectRef, objectUrl, type S3Location } from './object-url.ts'

export interface ObjectStoreOptions extends S3Location {
  accessKeyId: string
  secretAccessKey: string
  fetch?: typeof globalThis.fetch
}

/** The subject of its error messages. */
export const OBJECT_STORAGE = 'The object storage'

const ERROR_MAX_BYTES = 64 * 1024

type SendSigned = (object: ObjectRef, init: RequestInit, signal: AbortSignal) => Promise<Response>

/**
 * Sends requests with the store's signature. Redirects are not followed: they could lead anywhere, with our signature.
 */
export function signedRequests(options: ObjectStoreOptions): SendSigned {
  const { accessKeyId, secretAccessKey, region, fetch = globalThis.fetch } = options
  // Only `sign` is used: the client's `fetch` retries ten times, follows redirects and has no deadline.
  const signer = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3', retries: 0 })
  return async (object, init, signal) => {
    const request = await signer.sign(objectUrl(options, object), init)
    return fetch(request, { redirect: 'manual', signal })
  }
}

/** S3's error code, like `NoSuchKey`; empty when the response has none. */
export async function errorCodeOf(response: Response): Promise<string> {
  // Without it the error has only the status.
  const text = await readResponseBody(OBJECT_STORAGE, response, ERROR_MAX_BYTES).catch(() => '')
  return /<Code>([A-Za-z0-9]{1,64})<\/Code>/.exec(text)?.[1] ?? ''
}

/** The error to throw for an unexpected response. */
export function unexpectedResponse({ status, headers }: Response, code: string): StoreError {
  const result = code === '' ? `${status}` : `${status} ${code}`
  return new StoreError(`${OBJECT_STORAGE} returned ${result}${adviceFor(status, code)}`, {
    retryable: status >= 500 || status === 429 || code === 'SlowDown' || code === 'RequestTimeout',
    retryAfterMs: Math.max(0, Number(headers.get('retry-after') ?? 0) * 1000) || 0,
  })
}

function adviceFor(status: number, code: string): string {
  switch (code) {
    case 'RequestTimeTooSkewed':
      return ': the clock of this machine is wrong'
    case 'SignatureDoesNotMatch':
    case 'InvalidAccessKeyId':
      return ': check the SERVICE_STORAGE_ credentials'
    case 'PermanentRedirect':
    case 'AuthorizationHeaderMalformed':
      return ': check SERVICE_STORAGE_REGION'
    default:
      return status >= 300 && status < 400 ? ': redirects are not followed' : ''
  }
}
