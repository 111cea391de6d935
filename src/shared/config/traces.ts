/** Where traces are stored: object storage, the key-value store, a local folder. */
import * as z from 'zod/mini'
import { anyString, baseUrl, bytes, flag, matching, type Variables } from './variables.ts'

export interface TracesConfig {
  /** Where stored traces are read from; null without credentials. */
  storage: StorageConfig | null
  /** Null while remote tracing is off. */
  remote: { storage: StorageConfig; kvstore: KvStoreConfig | null } | null
  /** Null without a folder. */
  local: { directory: string; writes: boolean } | null
  /** Maximum size of a trace; larger ones are not read. */
  maxBytes: number
}

export interface StorageConfig {
  accessKeyId: string
  secretAccessKey: string
  region: string
  /** The only bucket that traces are read from. Null: any bucket of AWS in `region`. */
  bucket: string | null
  /** Base URL of an S3 server. Null: AWS. */
  endpoint: string | null
}

export interface KvStoreConfig {
  /** `redis://`, `rediss://` or `https://` (Upstash REST); may contain a password. */
  url: string
  /** Upstash's token, unless it is the URL's password. */
  token: string | null
}

const CREDENTIALS = ['SERVICE_STORAGE_ACCESS_KEY_ID', 'SERVICE_STORAGE_SECRET_ACCESS_KEY', 'SERVICE_STORAGE_REGION']

export function tracesConfig(variables: Variables, { isolated }: { isolated: boolean }): TracesConfig {
  const { read, readOr, isSet, report } = variables
  const remoteOn = readOr('SERVICE_TRACE_REMOTE_ON', flag, false)
  const localOn = readOr('SERVICE_TRACE_LOCAL_ON', flag, false)
  const directory = read('SERVICE_TRACE_LOCAL_DIR', matching(/^(?:\/|[a-zA-Z]:[\\/])/, 'must be an absolute path'))
  const storage = storageConfig(variables, remoteOn)
  const kvstore = kvStoreConfig(variables, isolated)
  if (isolated && isSet('SERVICE_TRACE_LOCAL_DIR'))
    report('SERVICE_TRACE_LOCAL_DIR is not available on workerd (no file system)')
  if (localOn && !isSet('SERVICE_TRACE_LOCAL_DIR'))
    report('SERVICE_TRACE_LOCAL_ON=true requires SERVICE_TRACE_LOCAL_DIR')
  return {
    storage: CREDENTIALS.every(isSet) ? storage : null,
    remote: remoteOn ? { storage, kvstore } : null,
    local: directory === null ? null : { directory, writes: localOn },
    maxBytes: readOr('SERVICE_TRACE_MAX_BYTES', bytes, 32 * 1024 * 1024),
  }
}

function storageConfig({ read, isSet, report }: Variables, remoteOn: boolean): StorageConfig {
  const storage = {
    // The region becomes part of a host name.
    region: read('SERVICE_STORAGE_REGION', matching(/^[a-z\d-]+$/, 'must be a region like eu-central-1')) ?? '',
    accessKeyId: read('SERVICE_STORAGE_ACCESS_KEY_ID', anyString) ?? '',
    secretAccessKey: read('SERVICE_STORAGE_SECRET_ACCESS_KEY', anyString) ?? '',
    bucket: read('SERVICE_STORAGE_BUCKET', matching(/^[a-z\d][a-z\d.-]{1,61}[a-z\d]$/, 'must be the name of a bucket')),
    endpoint: read('SERVICE_STORAGE_ENDPOINT', baseUrl),
  }
  const missing = CREDENTIALS.filter((name) => !isSet(name))
  if (remoteOn && missing.length > 0) report(`SERVICE_TRACE_REMOTE_ON=true requires ${missing.join(', ')}`)
  if (isSet('SERVICE_STORAGE_ENDPOINT') && !isSet('SERVICE_STORAGE_BUCKET'))
    report('SERVICE_STORAGE_ENDPOINT requires SERVICE_STORAGE_BUCKET')
  return storage
}

function kvStoreConfig({ read, isSet, report }: Variables, isolated: boolean): KvStoreConfig | null {
  const address = read('SERVICE_KVSTORE_URL', kvStoreUrl)
  const token = read('SERVICE_KVSTORE_TOKEN', anyString)
  if (address === null) return null
  if (address.protocol.startsWith('http') && address.password === '' && !isSet('SERVICE_KVSTORE_TOKEN')) {
    report(
      'SERVICE_KVSTORE_TOKEN is required when SERVICE_KVSTORE_URL begins with https://, unless the token is the password of the URL',
    )
  }
  if (isolated && address.protocol.startsWith('redis')) {
    report(
      'SERVICE_KVSTORE_URL must begin with https:// on workerd (no TCP sockets); use the REST URL of an Upstash Redis',
    )
  }
  return { url: address.href, token }
}

const kvStoreUrl = z.pipe(
  z.string().check(z.refine(isKvStoreUrl, { error: 'must be a URL that begins with redis://, rediss:// or https://' })),
  z.transform((value) => new URL(value)),
)

function isKvStoreUrl(value: string): boolean {
  if (!URL.canParse(value)) return false
  const { protocol, hostname } = new URL(value)
  // Plain http would reveal the token, except on this machine.
  if (protocol === 'http:') return hostname === '127.0.0.1' || hostname === 'localhost'
  return ['redis:', 'rediss:', 'https:'].includes(protocol)
}
