/** What is kept out of the log even where others repeat it: their errors quote the address they called, or the name they were given. */
import { NETWORK_ADDRESSES } from '../lib/network-address.ts'
import type { Environment } from './variables.ts'

/** Secrets, and what tells of the network and the disks behind the service. */
const HIDDEN = [
  'ENGINE_ADDRESS',
  'ENGINE_NAMESPACE',
  'ENGINE_API_KEY',
  'ENGINE_TLS_CA',
  'ENGINE_TLS_CERT',
  'ENGINE_TLS_KEY',
  'ENGINE_TLS_SERVER_NAME',
  'ENGINE_HTTP_URL',
  'ENGINE_CODEC_ENDPOINT',
  'SERVICE_API_AUTH_TOKEN',
  'SERVICE_KVSTORE_URL',
  'SERVICE_KVSTORE_TOKEN',
  'SERVICE_STORAGE_ACCESS_KEY_ID',
  'SERVICE_STORAGE_SECRET_ACCESS_KEY',
  'SERVICE_STORAGE_REGION',
  'SERVICE_STORAGE_BUCKET',
  'SERVICE_STORAGE_ENDPOINT',
  'SERVICE_TRACE_LOCAL_DIR',
]

// A word of everybody's, which stands in stacks and sentences too.
const DEFAULT_NAMESPACE = 'default'

// A loopback address reveals nothing, and its port helps.
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)(?::\d+)?[.,;)]?$/

/** Puts the name of the variable in the place of its value, or of a part of it, and `<address>` in that of any other address but loopback. */
export function redactValues(env: Environment): (text: string) => string {
  const hidden = HIDDEN.flatMap((name) => partsOf(env[name] ?? '').map((part) => ({ name, part })))
    .filter(({ part }) => part !== DEFAULT_NAMESPACE)
    // A whole before its parts.
    .toSorted((a, b) => b.part.length - a.part.length)
    .map(({ name, part }) => ({ name, pattern: asWord(part) }))
  return (text) =>
    hidden
      .reduce((rest, { name, pattern }) => rest.replace(pattern, `<${name}>`), text)
      .replace(NETWORK_ADDRESSES, (place) => (LOOPBACK.test(place) ? place : '<address>'))
}

/** A list's entries, a URL's host and credentials, an address's host. */
function partsOf(value: string): string[] {
  const entries = value.split(',').map((entry) => entry.trim())
  const {
    host = '',
    hostname = '',
    username = '',
    password = '',
  } = value.includes('://') && URL.canParse(value) ? new URL(value) : {}
  const [, addressHost = ''] = /^(.+):\d+$/.exec(value) ?? []
  // A host that is a plain word (`redis`, `temporal`) is one only where its port, or the system's complaint, stands beside it.
  const hosts = [hostname, addressHost].filter((name) => /[.:]/.test(name))
  const parts = [value, ...entries, host, username, password, decoded(password), ...hosts]
  return [...new Set(parts)].filter((part) => part !== '')
}

/** Not in the middle of a word; where it ends in a slash or the like, whatever follows. */
function asWord(part: string): RegExp {
  const [before, after] = [/^\w/.test(part) ? '(?<!\\w)' : '', /\w$/.test(part) ? '(?!\\w)' : '']
  return new RegExp(`${before}${escaped(part)}${after}`, 'gi')
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text // a bare percent sign: it stands for itself
  }
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
}
