import { percentEncode } from '../../lib/percent-encode.ts'
import { StoreError } from '../store-call.ts'

export interface ObjectRef {
  bucket: string
  /** Up to 1024 bytes that `keyFault` accepts. */
  key: string
}

export interface S3Location {
  region: string
  /** Base URL of an S3 server that is not AWS, which has its buckets as folders; null: AWS. */
  endpoint: string | null
}

/**
 * The URL of an object. It is built from its parts: whatever the key contains, the host is the store's own.
 *
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/VirtualHosting.html
 */
export function objectUrl({ endpoint, region }: S3Location, { bucket, key }: ObjectRef): string {
  const fault = keyFault(key)
  if (fault !== null) throw new StoreError(`The key of an object ${fault}`)
  if (endpoint !== null) return `${endpoint.replace(/\/+$/, '')}/${bucket}/${encodeKey(key)}`
  // The certificate of AWS's hosts covers one label, so a bucket with dots is a folder.
  if (bucket.includes('.')) return `https://${awsHost(region)}/${bucket}/${encodeKey(key)}`
  return `https://${bucket}.${awsHost(region)}/${encodeKey(key)}`
}

/** AWS's S3 host of a region. */
export function awsHost(region: string): string {
  return `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
}

const encoder = new TextEncoder()

/** Why a string cannot be the key of an object; null when it can. */
export function keyFault(key: string): string | null {
  if (key === '' || encoder.encode(key).length > 1024) return 'must have 1 to 1024 bytes'
  if (!key.isWellFormed()) return 'must be well-formed Unicode'
  // URLs resolve these, and the object would leave its folder.
  if (key.split('/').some((part) => /^(?:\.|%2e){1,2}$/i.test(part)))
    return 'must not contain the segments "." and ".."'
  return null
}

function encodeKey(key: string): string {
  return key.split('/').map(percentEncode).join('/')
}
