/** Where traces are kept: the object store, the key-value store, a local folder. */
import { baseUrl, bytes, flag, matching, satisfying, text, type Variables } from './variables.ts'

export interface TracesConfig {
  /** Where stored traces are read from; null without credentials. */
  storage: StorageConfig | null
  /** Null while remote tracing is off. */
  remote: { storage: StorageConfig; kvstore: KvStoreConfig | null } | null
  /** Null while no folder is given. */
  local: { directory: string; writes: boolean } | null
  /** A trace larger than this is not read from where it was found. */
  maxBytes: number
}

export interface StorageConfig {
  accessKeyId: string
  secretAccessKey: string
  region: string
  /** Null: any bucket of AWS's own hosts in `region`. */
  bucket: string | null
  /** Null: AWS's own. */
  endpoint: string | null
}

export interface KvStoreConfig {
  /** `redis://`, `rediss://` or `https://` (Upstash REST); may hold a password. */
  url: string
  /** Upstash's token when it is not the URL's password. */
  token: string | null
}

const CREDENTIALS = ['SERVICE_STORAGE_ACCESS_KEY_ID', 'SERVICE_STORAGE_SECRET_ACCESS_KEY', 'SERVICE_STORAGE_REGION']

export function tracesConfig(variables: Variables, { isolated }: { isolated: boolean }): TracesConfig {
  const { read, isSet, fault } = variables
  const remoteOn = read('SERVICE_TRACE_REMOTE_ON', flag) ?? false
  const localOn = read('SERVICE_TRACE_LOCAL_ON', flag) ?? false
  const directory = read('SERVICE_TRACE_LOCAL_DIR', matching(/^(?:\/|[a-zA-Z]:[\\/])/, 'must be an absolute path'))
  const storage = storageConfig(variables, remoteOn)
  const kvstore = kvStoreConfig(variables, isolated)
  if (isolated && isSet('SERVICE_TRACE_LOCAL_DIR'))
    fault('SERVICE_TRACE_LOCAL_DIR is not to be had on this runtime, which has no files')
  if (localOn && !isSet('SERVICE_TRACE_LOCAL_DIR')) fault('SERVICE_TRACE_LOCAL_ON=true needs SERVICE_TRACE_LOCAL_DIR')
  return {
    storage: CREDENTIALS.every(isSet) ? storage : null,
    remote: remoteOn ? { storage, kvstore } : null,
    local: directory === null ? null : { directory, writes: localOn },
    maxBytes: read('SERVICE_TRACE_MAX_BYTES', bytes) ?? 32 * 1024 * 1024,
  }
}

function storageConfig({ read, isSet, fault }: Variables, remoteOn: boolean): StorageConfig {
  const storage = {
    // The region becomes part of a host name.
    region: read('SERVICE_STORAGE_REGION', matching(/^[a-z\d-]+$/, 'must be a region like eu-central-1')) ?? '',
    accessKeyId: read('SERVICE_STORAGE_ACCESS_KEY_ID', text) ?? '',
    secretAccessKey: read('SERVICE_STORAGE_SECRET_ACCESS_KEY', text) ?? '',
    bucket: read('SERVICE_STORAGE_BUCKET', matching(/^[a-z\d][a-z\d.-]{1,61}[a-z\d]$/, 'must be the name of a bucket')),
    endpoint: read('SERVICE_STORAGE_ENDPOINT', baseUrl()),
  }
  const missing = CREDENTIALS.filter((name) => !isSet(name))
  if (remoteOn && missing.length > 0) fault(`SERVICE_TRACE_REMOTE_ON=true needs ${missing.join(', ')}`)
  if (isSet('SERVICE_STORAGE_ENDPOINT') && !isSet('SERVICE_STORAGE_BUCKET'))
    fault('SERVICE_STORAGE_ENDPOINT needs SERVICE_STORAGE_BUCKET')
  return storage
}

function kvStoreConfig({ read, isSet, fault }: Variables, isolated: boolean): KvStoreConfig | null {
  const address = read(
    'SERVICE_KVSTORE_URL',
    satisfying(toKvStoreUrl, 'must be a URL that begins with redis://, rediss:// or https://'),
  )
  const token = read('SERVICE_KVSTORE_TOKEN', text)
  if (address === null) return null
  if (address.protocol.startsWith('http') && address.password === '' && !isSet('SERVICE_KVSTORE_TOKEN')) {
    fault('SERVICE_KVSTORE_URL over https needs SERVICE_KVSTORE_TOKEN, or the token as its password')
  }
  if (isolated && address.protocol.startsWith('redis')) {
    fault(
      'SERVICE_KVSTORE_URL must begin with https:// on this runtime, which has no sockets: use the REST URL of an Upstash Redis',
    )
  }
  return { url: address.href, token }
}

function toKvStoreUrl(value: string): URL | null {
  const address = URL.canParse(value) ? new URL(value) : null
  switch (address?.protocol) {
    case 'redis:':
    case 'rediss:':
    case 'https:':
      return address
    case 'http:': // a stand-in for Upstash on this machine
      return address.hostname === '127.0.0.1' || address.hostname === 'localhost' ? address : null
    default:
      return null
  }
}
