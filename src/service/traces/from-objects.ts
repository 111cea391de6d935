import { percentDecode } from '../../shared/lib/percent-encode.ts'
import { createCircuit } from '../../shared/stores/circuit.ts'
import type { ObjectReader } from '../../shared/stores/s3/object-reader.ts'
import { awsHost, keyIssue, type ObjectRef } from '../../shared/stores/s3/object-url.ts'
import type { StoreCall } from '../../shared/stores/store-call.ts'
import type { TraceSource } from '../model/trace-source.ts'
import { notAllowed, notAvailable, rethrowStoreError, toFoundTrace } from './read-stored-trace.ts'

export interface ObjectTraceOptions {
  objects: ObjectReader
  rules: BucketRules
  namespace: string
  /** Whether the service has no other namespace. */
  isOnlyNamespace: boolean
  maxBytes: number
}

/** Reads archived traces from object storage, at the destination that the run's catalog or the run itself names. */
export function tracesFromObjects({ objects, rules, maxBytes, ...own }: ObjectTraceOptions): TraceSource {
  const circuit = createCircuit()
  return {
    name: 'remote',
    async find(run, call) {
      const { remote } = await run.destinations(call)
      if (remote === undefined) return null
      for (const object of objectsOf(remote, rules)) {
        const read = (storeCall: StoreCall) => objects.get(object, maxBytes, storeCall)
        const stored = await circuit(call, read).catch(rethrowStoreError)
        if (stored !== null) return toFoundTrace(run, own, stored.text)
      }
      // Open runs are not archived yet.
      if (run.isOpen) return null
      throw notAvailable('The object storage has no object at the trace destination (404)')
    },
  }
}

interface BucketRules {
  region: string
  /** The only bucket that is read. Null: any bucket on AWS's hosts of the region. */
  bucket: string | null
  /** Base URL of an S3-compatible service. Null: AWS. */
  endpoint: string | null
}

const MAX_LENGTH = 4096

// AWS's rule, without two adjacent dots.
const BUCKET = /^(?!.*\.\.)[a-z\d][a-z\d.-]{1,61}[a-z\d]$/

/**
 * The objects that the destination may name, the likeliest first. Destinations are untrusted: they never decide which
 * host is called. The worker kit uses its path as the key; other
 * writers may have percent-encoded the key. Throws `notAvailable` for a destination that the rules do not allow.
 */
export function objectsOf(destination: string, rules: BucketRules): ObjectRef[] {
  const { bucket, key } = bucketAndKey(destination, rules)
  if (!BUCKET.test(bucket)) throw notAllowed('the bucket name is invalid')
  if (rules.bucket !== null && bucket !== rules.bucket) throw notAllowed('the bucket is not SERVICE_STORAGE_BUCKET')
  if (/[?#\\]|[^\P{Cc}]/u.test(key)) throw notAllowed('the key contains invalid characters')
  const issue = keyIssue(key)
  if (issue !== null) throw notAllowed(`the key ${issue}`)
  const decoded = percentDecode(key)
  return decoded === null || decoded === key || keyIssue(decoded) !== null
    ? [{ bucket, key }]
    : [key, decoded].map((key) => ({ bucket, key }))
}

function bucketAndKey(destination: string, { region, bucket, endpoint }: BucketRules): ObjectRef {
  if (destination.length > MAX_LENGTH) throw notAllowed(`it is longer than ${MAX_LENGTH} characters`)
  // Compared as a string, because a URL parser would normalize a malicious one.
  const [, scheme = '', host = '', path = ''] = /^([a-zA-Z][\w+.-]*):\/\/([^/]*)\/(.*)$/s.exec(destination) ?? []
  if (endpoint === null) return onAws({ scheme, host, path }, region, bucket)
  const base = `${endpoint.replace(/\/+$/, '')}/`
  if (!destination.startsWith(base)) throw notAllowed('it is not on SERVICE_STORAGE_ENDPOINT')
  return split(destination.slice(base.length))
}

interface Address {
  scheme: string
  host: string
  path: string
}

function onAws({ scheme, host, path }: Address, region: string, ownBucket: string | null): ObjectRef {
  if (scheme !== 'https') throw notAllowed('it does not start with https://')
  if (host === awsHost(region)) return split(path)
  // Workers of the older generation omit the region.
  if (ownBucket !== null && host === `${ownBucket}.s3.amazonaws.com`) return { bucket: ownBucket, key: path }
  const suffix = `.${awsHost(region)}`
  if (!host.endsWith(suffix)) throw notAllowed('its host is not S3 in SERVICE_STORAGE_REGION')
  return { bucket: host.slice(0, -suffix.length), key: path }
}

function split(path: string): ObjectRef {
  const slash = path.indexOf('/')
  return slash === -1 ? { bucket: path, key: '' } : { bucket: path.slice(0, slash), key: path.slice(slash + 1) }
}
