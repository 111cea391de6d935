/** Hashes, signatures with a shared secret, and a comparison whose time does not help to guess one. */

export type Bytes = Uint8Array<ArrayBuffer>

const HASHES = { sha1: 'SHA-1', sha256: 'SHA-256', sha512: 'SHA-512' }

export async function hmac(hash: keyof typeof HASHES = 'sha256', secret: Bytes, message: Bytes): Promise<Bytes> {
  const algorithm = { name: 'HMAC', hash: HASHES[hash] }
  const key = await crypto.subtle.importKey('raw', secret, algorithm, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, message))
}

/** The parts, one after the other. */
export function joined(parts: readonly Bytes[]): Bytes {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

const encoder = new TextEncoder()

export function toBytes(text: string): Bytes {
  return encoder.encode(text)
}

/**
 * Whether one of `presented` equals one of `expected`.
 *
 * Compares every presented sequence completely with every expected one. The time depends only on what was presented: it
 * does not reveal where a sequence differs, or how long the expected ones are.
 */
export function anyEqual(presented: readonly ArrayLike<number>[], expected: readonly ArrayLike<number>[]): boolean {
  let found = 0
  for (const one of presented) {
    for (const other of expected) {
      let difference = one.length ^ other.length
      for (let at = 0; at < one.length; at++) difference |= (one[at] ?? 0) ^ (other[at % other.length] ?? 0)
      found |= Number(difference === 0)
    }
  }
  return found === 1
}

/** The hash in hexadecimal. Strings are hashed as UTF-8. */
export async function sha256(content: string | Uint8Array<ArrayBuffer>): Promise<string> {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
  return toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)))
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
