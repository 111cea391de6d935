/** Secrets of the scheme `standard`, as senders show them. */
import { fromBase64 } from '../lib/base64.ts'
import { type Bytes, toBytes } from '../lib/digest.ts'
import { BASE64_SECRET_PREFIX } from './hook-schemes.ts'

// Some senders write the version of the signature before the secret.
const VERSION_PREFIX = 'v1,'

/** What is wrong with a secret, or null. */
export function standardSecretIssue(secret: string): string | null {
  const bare = withoutVersion(secret)
  if (bare.startsWith('whpk_'))
    return 'names a variable with a public key (whpk_): use a secret that begins with whsec_'
  if (!bare.startsWith(BASE64_SECRET_PREFIX) || isBase64(bare.slice(BASE64_SECRET_PREFIX.length))) return null
  return `names a variable whose value is not base64 after ${BASE64_SECRET_PREFIX}`
}

/**
 * The keys that a secret can mean, the one that a sender uses first. Without the prefix, libraries of some senders
 * decode it, and others take it as it stands.
 */
export function standardKeys(secret: string): Bytes[] {
  const bare = withoutVersion(secret)
  const base64 = bare.startsWith(BASE64_SECRET_PREFIX) ? bare.slice(BASE64_SECRET_PREFIX.length) : bare
  const decoded = isBase64(base64) ? [new Uint8Array(fromBase64(base64))] : []
  return bare === base64 ? [...decoded, toBytes(bare)] : decoded
}

function withoutVersion(secret: string): string {
  return secret.startsWith(VERSION_PREFIX) ? secret.slice(VERSION_PREFIX.length) : secret
}

function isBase64(text: string): boolean {
  return /^(?:[\w+/-]{4})*(?:[\w+/-]{2,3}={0,2}|[\w+/-]{4})$/.test(text)
}
