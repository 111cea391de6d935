import { AwsClient } from 'aws4fetch'
import { percentEncoded } from '../../lib/percent-encode.ts'
import { readBody } from '../read-body.ts'
import { type StoreCall, StoreError, withRetries } from '../store-call.ts'

/** Object storage that speaks S3, as the API sees it. Every verb rejects with a `StoreError`, or with the reason of `call.signal`. */
export interface ObjectReader {
  /** Null when the bucket has no object of that key. Rejects when it is larger than `maxBytes`. */
  get(object: ObjectRef, maxBytes: number, call: StoreCall): Promise<StoredObject | null>
}

export interface StoredObject {
  text: string
  /** Of this version. */
  etag: string
}

export interface ObjectRef {
  bucket: string
  /** Any text of up to 1024 bytes that `keyFault` has nothing against. */
  key: string
}

export interface ObjectStoreOptions {
  accessKeyId: string
  secretAccessKey: string
  region: string
  /** Base URL of another S3 than AWS's own; buckets are its folders. */
  endpoint: string | null
  fetch?: typeof globalThis.fetch
}

export const STORE = 'The object storage'

const REFUSAL_MAX_BYTES = 64 * 1024

export function createObjectReader(options: ObjectStoreOptions): ObjectReader {
  const send = signedRequests(options)
  return {
    get: (object, maxBytes, call) =>
      withRetries(STORE, call, async (signal) => {
        const response = await send(object, { method: 'GET' }, signal)
        if (response.status === 200) {
          return { text: await readBody(STORE, response, maxBytes), etag: response.headers.get('etag') ?? '' }
        }
        const code = await refusalCode(response)
        if (response.status === 404 && (code === 'NoSuchKey' || code === '')) return null
        throw refusal(response, code)
      }),
  }
}

/** Requests with the store's signature; they follow no redirect. */
export function signedRequests(options: ObjectStoreOptions) {
  const { accessKeyId, secretAccessKey, region, fetch = globalThis.fetch } = options
  // `sign` alone: its `fetch` retries ten times, follows redirects and has no deadline.
  const signer = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3', retries: 0 })
  return async (object: ObjectRef, init: RequestInit, signal: AbortSignal): Promise<Response> => {
    const request = await signer.sign(objectUrl(options, object), init)
    return fetch(request, { redirect: 'manual', signal })
  }
}

/**
 * Where an object is. Made of its parts, never taken from somewhere: whatever the key holds, the host is the store's own.
 *
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/VirtualHosting.html
 */
export function objectUrl(
  { endpoint, region }: Pick<ObjectStoreOptions, 'endpoint' | 'region'>,
  { bucket, key }: ObjectRef,
): string {
  const fault = keyFault(key)
  if (fault !== null) throw new StoreError(`The key of an object ${fault}`)
  if (endpoint !== null) return `${endpoint.replace(/\/+$/, '')}/${bucket}/${encodeKey(key)}`
  // The certificate of AWS's hosts covers one label: a bucket with dots is reached as a folder.
  if (bucket.includes('.')) return `https://${awsHost(region)}/${bucket}/${encodeKey(key)}`
  return `https://${bucket}.${awsHost(region)}/${encodeKey(key)}`
}

/** AWS's S3 host of a region. */
export function awsHost(region: string): string {
  return `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
}

const encoder = new TextEncoder()

/** What keeps a text from being the key of an object; null when nothing does. */
export function keyFault(key: string): string | null {
  if (key === '' || encoder.encode(key).length > 1024) return 'is empty or above 1024 bytes'
  if (!key.isWellFormed()) return 'is no well-formed Unicode'
  // A URL loses them on its way, and with them the folder that the key should stay in.
  if (key.split('/').some((part) => /^(?:\.|%2e){1,2}$/i.test(part))) return 'has a part that is . or ..'
  return null
}

function encodeKey(key: string): string {
  return key.split('/').map(percentEncoded).join('/')
}

/** S3's own word for what is wrong; empty when it says none. */
export async function refusalCode(response: Response): Promise<string> {
  const text = await readBody(STORE, response, REFUSAL_MAX_BYTES).catch(() => '') // the status alone says enough
  return /<Code>([A-Za-z0-9]{1,64})<\/Code>/.exec(text)?.[1] ?? ''
}

/** To throw for an answer that is none of those expected. */
export function refusal({ status, headers }: Response, code: string): StoreError {
  const said = code === '' ? `${status}` : `${status} ${code}`
  // A redirect is refused, never followed: it could lead anywhere, with our signature.
  return new StoreError(`${STORE} answered ${said}${adviceFor(status, code)}`, {
    passing: status >= 500 || status === 429 || code === 'SlowDown' || code === 'RequestTimeout',
    retryAfterMs: Math.max(0, Number(headers.get('retry-after') ?? 0) * 1000) || 0,
  })
}

function adviceFor(status: number, code: string): string {
  if (code === 'RequestTimeTooSkewed') return ': the clock of this machine is wrong'
  if (code === 'SignatureDoesNotMatch' || code === 'InvalidAccessKeyId')
    return ': look at the SERVICE_STORAGE_ credentials'
  if (code === 'PermanentRedirect' || code === 'AuthorizationHeaderMalformed') return ': look at SERVICE_STORAGE_REGION'
  return status >= 300 && status < 400 ? ': redirects are not followed' : ''
}
