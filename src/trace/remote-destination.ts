/** Which object a destination means, and whether it may be read: it comes from data, so nothing of it decides whom we talk to. */
import { awsHost, keyFault, type ObjectRef } from '../store/s3/object-url.ts'
import { notAvailable } from './read-stored-trace.ts'

export interface BucketRules {
  region: string
  /** The only bucket that is read; null: any on AWS's own hosts of the region. */
  bucket: string | null
  /** Base URL of another S3; null: AWS's own. */
  endpoint: string | null
}

const MAX_LENGTH = 4096

// AWS's own rule, without the two dots in a row.
const BUCKET = /^(?!.*\.\.)[a-z\d][a-z\d.-]{1,61}[a-z\d]$/

/**
 * The objects that the destination may mean, the likeliest first: the kit's keys are the very text that stands in the
 * destination, those of others may be what that text stands for. Rejects as `notAvailable` what the rules do not allow.
 */
export function objectsOf(destination: string, rules: BucketRules): ObjectRef[] {
  const { bucket, text } = bucketAndKey(destination, rules)
  if (!BUCKET.test(bucket)) throw refused('its bucket has no name that a bucket can have')
  if (rules.bucket !== null && bucket !== rules.bucket)
    throw refused('it is in another bucket than SERVICE_STORAGE_BUCKET')
  if (/[?#\\]|[^\P{Cc}]/u.test(text)) throw refused('its key has characters that no key has')
  const fault = keyFault(text)
  if (fault !== null) throw refused(`its key ${fault}`)
  const decoded = decodedOrNull(text)
  return decoded === null || decoded === text || keyFault(decoded) !== null
    ? [{ bucket, key: text }]
    : [text, decoded].map((key) => ({ bucket, key }))
}

function bucketAndKey(
  destination: string,
  { region, bucket, endpoint }: BucketRules,
): { bucket: string; text: string } {
  if (destination.length > MAX_LENGTH) throw refused(`it has more than ${MAX_LENGTH} characters`)
  // Compared as text: what a URL parser would make of a strange one must not matter.
  const [, scheme = '', host = '', path = ''] = /^([a-zA-Z][\w+.-]*):\/\/([^/]*)\/(.*)$/s.exec(destination) ?? []
  if (endpoint === null) return onAws({ scheme, host, path }, region, bucket)
  const base = `${endpoint.replace(/\/+$/, '')}/`
  if (!destination.startsWith(base)) throw refused('it is not on SERVICE_STORAGE_ENDPOINT')
  return split(destination.slice(base.length))
}

interface Place {
  scheme: string
  host: string
  path: string
}

function onAws(
  { scheme, host, path }: Place,
  region: string,
  ownBucket: string | null,
): { bucket: string; text: string } {
  if (scheme !== 'https') throw refused('it does not begin with https://')
  if (host === awsHost(region)) return split(path)
  // Workers of the older generation leave the region out; the bucket is looked for in its own region all the same.
  if (ownBucket !== null && host === `${ownBucket}.s3.amazonaws.com`) return { bucket: ownBucket, text: path }
  const suffix = `.${awsHost(region)}`
  if (!host.endsWith(suffix)) throw refused('it is on another host than the S3 of SERVICE_STORAGE_REGION')
  return { bucket: host.slice(0, -suffix.length), text: path }
}

function split(path: string): { bucket: string; text: string } {
  const slash = path.indexOf('/')
  return slash === -1 ? { bucket: path, text: '' } : { bucket: path.slice(0, slash), text: path.slice(slash + 1) }
}

function decodedOrNull(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null // a bare percent sign: it stands for itself
  }
}

function refused(reason: string) {
  return notAvailable(`The destination of the trace is not read: ${reason}`)
}
