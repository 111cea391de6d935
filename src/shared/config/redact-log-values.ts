/** Keeps secrets, addresses and paths out of the log. Errors of libraries often contain them. */

import { HOOK_SECRET_PREFIX } from '../hooks/hook-schemes.ts'
import { NETWORK_ADDRESSES } from '../lib/network-address.ts'
import { percentDecode } from '../lib/percent-encode.ts'
import type { Environment } from './variables.ts'

/** Variables with secrets, or with addresses, names and paths behind the service. */
const REDACTED = [
  'ENGINE_API_KEY',
  'ENGINE_TLS_CA',
  'ENGINE_TLS_CERT',
  'ENGINE_TLS_KEY',
  'ENGINE_TLS_SERVER_NAME',
  'ENGINE_HTTP_URL',
  'ENGINE_CODEC_ENDPOINT',
  'SERVICE_API_AUTH_TOKEN',
  'SERVICE_POLICY_FILE',
  'SERVICE_SIGNING_KEY',
  'SERVICE_KVSTORE_URL',
  'SERVICE_KVSTORE_TOKEN',
  'SERVICE_STORAGE_ACCESS_KEY_ID',
  'SERVICE_STORAGE_SECRET_ACCESS_KEY',
  'SERVICE_STORAGE_REGION',
  'SERVICE_STORAGE_BUCKET',
  'SERVICE_STORAGE_ENDPOINT',
  'SERVICE_TRACE_LOCAL_DIR',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
]

// A loopback address reveals nothing about the network, and its port helps to find the cause of an error.
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)(?::\d+)?[.,;)]?$/

/**
 * Replaces the value of a variable, or a part of it, by `<NAME>`, and any other address, except loopback and
 * that of the engine, by `<address>`. An address that the engine's name resolves to is known by its port.
 */
export function redactValues(env: Environment): (message: string) => string {
  const secrets = Object.keys(env).filter((name) => name.startsWith(HOOK_SECRET_PREFIX))
  // The line `listening` names it, too.
  const ofEngine = new Set([env.ENGINE_ADDRESS, env.ENGINE_HTTP_URL].flatMap((value = '') => hostsOf(value)))
  const patterns = [...REDACTED, ...secrets]
    .flatMap((name) => partsOf(env[name] ?? '').map((part) => ({ name, part })))
    // A store may be on the same machine. A name without a dot may also be a secret.
    .filter(({ part }) => !ofEngine.has(part) || !/[.:]/.test(part))
    // A whole value must be replaced before its parts.
    .toSorted((a, b) => b.part.length - a.part.length)
    .map(({ name, part }) => ({ name, pattern: asWord(part) }))
  const ports = enginePorts(env)
  const isShown = (found: string) => {
    const address = found.replace(/[.,;)]+$/, '')
    const [, port = ''] = /^[^<]*:(\d+)$/.exec(address) ?? []
    return LOOPBACK.test(found) || ofEngine.has(address) || ports.has(port)
  }
  return (message) =>
    patterns
      .reduce((redacted, { name, pattern }) => redacted.replace(pattern, `<${name}>`), message)
      .replace(NETWORK_ADDRESSES, (address) => (isShown(address) ? address : '<address>'))
}

// Those of URLs without a port.
const DEFAULT_PORTS = ['80', '443', '6379']

/** The ports of the engine, unless something else that the service calls may have them, too. */
function enginePorts(env: Environment): Set<string> {
  const portsOf = (names: readonly string[]) =>
    names.flatMap((name) => /:(\d+)(?:\/|$)/.exec(env[name] ?? '')?.[1] ?? [])
  const others = [...portsOf(REDACTED.filter((name) => name !== 'ENGINE_HTTP_URL')), ...DEFAULT_PORTS]
  return new Set(portsOf(['ENGINE_ADDRESS', 'ENGINE_HTTP_URL']).filter((port) => !others.includes(port)))
}

/** The value, the entries of a list, the host and credentials of a URL, the host of an address. */
function partsOf(value: string): string[] {
  const entries = value.split(',').map((entry) => entry.trim())
  const {
    host = '',
    hostname = '',
    username = '',
    password = '',
  } = value.includes('://') && URL.canParse(value) ? new URL(value) : {}
  const [, addressHost = ''] = /^(.+):\d+$/.exec(value) ?? []
  // A host that is a plain word (`redis`, `temporal`) is redacted only with its port,
  // or in a system error (NETWORK_ADDRESSES).
  const hosts = [hostname, addressHost].filter((name) => /[.:]/.test(name))
  const parts = [value, ...entries, host, username, password, percentDecode(password) ?? password, ...hosts]
  return [...new Set(parts)].filter((part) => part !== '')
}

/**
 * Matches `part` unless it is inside a longer word.
 * If it begins or ends with a character like a slash, anything may be next to it.
 */
function asWord(part: string): RegExp {
  const [before, after] = [/^\w/.test(part) ? '(?<!\\w)' : '', /\w$/.test(part) ? '(?!\\w)' : '']
  return new RegExp(`${before}${escaped(part)}${after}`, 'gi')
}

function escaped(part: string): string {
  return part.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
}

/** The host of an address or URL, with and without its port. */
function hostsOf(value: string): string[] {
  const url = value.includes('://') ? value : `http://${value}`
  if (!URL.canParse(url)) return []
  const { host, hostname } = new URL(url)
  return [host, hostname, hostname.replace(/^\[|\]$/g, '')].filter((part) => part !== '')
}
