import { isObject } from '../lib/json.ts'

/** Replaces a value that must not be shown. */
export const REDACTED = '[redacted]'

// Headers and fields that contain credentials, in lower case and without separators.
const SECRET_NAMES: ReadonlySet<string> = new Set([
  'authorization',
  'proxyauthorization',
  'cookie',
  'setcookie',
  'xapikey',
  'apikey',
  'xauthtoken',
  'xaccesstoken',
  'xcsrftoken',
  'xamzsecuritytoken',
  'xgoogapikey',
  'password',
  'passwd',
  'token',
  'secret',
  'accesstoken',
  'refreshtoken',
  'clientsecret',
  'privatekey',
])

// No secret name with separators is longer.
const MAX_NAME_LENGTH = 64

/** Whether a field or header of this name holds a secret. Ignores case and separators: `API_Key`, `x-api-key`. */
export function isSecretName(name: unknown): boolean {
  if (typeof name !== 'string' || name.length > MAX_NAME_LENGTH) return false
  return SECRET_NAMES.has(name.toLowerCase().replace(/[-_.\s]/g, ''))
}

/** Whether it is a header in a list of raw headers: `["authorization", "Basic …"]`. */
export function isSecretPair(value: unknown): value is [string, unknown] {
  return Array.isArray(value) && value.length === 2 && isSecretName(value[0])
}

/** Replaces all values with a secret name by `[redacted]`. Returns the same value if there are none. */
export function redactSecrets(value: unknown): unknown {
  if (Array.isArray(value)) {
    if (isSecretPair(value)) return [value[0], REDACTED]
    return unlessSame(value, value.map(redactSecrets))
  }
  if (!isObject(value)) return value
  const entries = Object.entries(value)
  const redacted = entries.map(([key, member]) => (isSecretName(key) ? REDACTED : redactSecrets(member)))
  if (redacted.every((member, index) => member === entries[index]?.[1])) return value
  return Object.fromEntries(entries.map(([key], index) => [key, redacted[index]]))
}

function unlessSame(before: readonly unknown[], after: readonly unknown[]): readonly unknown[] {
  return after.every((member, index) => member === before[index]) ? before : after
}
