import { percentEncode } from '../../lib/percent-encode.ts'
import { StoreError } from '../store-call.ts'

export interface ObjectRef {
  bucket: string
  /** Up to 1024 bytes that `keyIssue` accepts. */
  key: string
}

export interface S3Location {
  region: string
  /** Base URL of another S3 server, where a bucket is the first segment of the path; null: AWS. */
  endpoint: string | null
}

/**
 * The URL of an object. The host is always the store's, whatever the key contains.
 *
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/VirtualHosting.html
 */
export function objectUrl({ endpoint, region }: S3Location, { bucket, key }: ObjectRef): string {
  const issue = keyIssue(key)
  if (issue !== null) throw new StoreError(`The key of an object ${issue}`)
  if (endpoint !== null) return `${endpoint.replace(/\/+$/, '')}/${bucket}/${encodeKey(key)}`
  // AWS's certificate is valid for one label before the host, so a bucket with dots goes into the path.
  if (bucket.includes('.')) return `https://${awsHost(region)}/${bucket}/${encodeKey(key)}`
  return `https://${bucket}.${awsHost(region)}/${encodeKey(key)}`
}

/** AWS's S3 host of a region. */
export function awsHost(region: string): string {
  return `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
}

const encoder = new TextEncoder()

/** Why a string cannot be the key of an object; null when it can. */
export function keyIssue(key: string): string | null {
  if (key === '' || encoder.encode(key).length > 1024) return 'must have 1 to 1024 bytes'
  if (!key.isWellFormed()) return 'must be well-formed Unicode'
  // URL parsers resolve these segments, so the key could point to another bucket.
  if (key.split('/').some((part) => /^(?:\.|%2e){1,2}$/i.test(part)))
    return 'must not contain the segments "." and ".."'
  return null
}

function encodeKey(key: string): string {
  return key.split('/').map(percentEncode).join('/')
}
