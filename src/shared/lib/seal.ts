/** Sealed texts: opaque to everyone else, and rejected after any change. AES-256-GCM with keys that HKDF derives. */
import { fromBase64, toBase64Url } from './base64.ts'
import { type Lazy, lazy } from './cache.ts'

export interface Sealer {
  /** Base64url, with 28 bytes more than the text. Two seals of the same text differ. */
  seal(text: string): Promise<string>
  /** The text; null for what none of the keys has sealed for this purpose. */
  open(sealed: string): Promise<string | null>
}

const IV_BYTES = 12
const TAG_BYTES = 16

/**
 * Seals with the first key, and opens with each of them, so that keys can be replaced. `purpose` keeps apart what is
 * sealed for different uses with the same keys, and `deployment` what is sealed by different services.
 */
export function createSealer(
  keys: readonly Uint8Array<ArrayBuffer>[],
  purpose: string,
  deployment: string | null = null,
): Sealer {
  const derived = keys.map((key) => deriveOnce(key, deployment === null ? purpose : `${purpose} ${deployment}`))
  return {
    async seal(text) {
      const [newest] = derived
      if (newest === undefined) throw new TypeError('there is no key')
      const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
      const encrypted = await crypto.subtle.encrypt({ name, iv }, await newest.get(), new TextEncoder().encode(text))
      return toBase64Url(new Uint8Array([...iv, ...new Uint8Array(encrypted)]))
    },
    async open(sealed) {
      const bytes = bytesOrNull(sealed)
      if (bytes === null || bytes.length < IV_BYTES + TAG_BYTES) return null
      for (const key of derived) {
        const text = await decrypted(bytes, await key.get())
        if (text !== null) return text
      }
      return null
    },
  }
}

const name = 'AES-GCM'

function deriveOnce(key: Uint8Array<ArrayBuffer>, purpose: string): Lazy<CryptoKey> {
  const algorithm = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: new TextEncoder().encode(purpose) }
  return lazy(
    async () => {
      const base = await crypto.subtle.importKey('raw', key, 'HKDF', false, ['deriveBits'])
      // Not `deriveKey`: in Node it settles a promise without a constructor, at which the promise hook of a Temporal
      // worker in the same process throws.
      const bits = await crypto.subtle.deriveBits(algorithm, base, 256)
      return crypto.subtle.importKey('raw', bits, name, false, ['encrypt', 'decrypt'])
    },
    (derived) => derived,
  )
}

async function decrypted(bytes: Uint8Array<ArrayBuffer>, key: CryptoKey): Promise<string | null> {
  try {
    const algorithm = { name, iv: bytes.subarray(0, IV_BYTES) }
    return new TextDecoder().decode(await crypto.subtle.decrypt(algorithm, key, bytes.subarray(IV_BYTES)))
  } catch {
    return null // sealed with another key, or changed
  }
}

/** Only the form that `seal` returns: no padding, and no bits that nothing reads. */
function bytesOrNull(sealed: string): Uint8Array<ArrayBuffer> | null {
  try {
    const bytes = new Uint8Array(fromBase64(sealed))
    return toBase64Url(bytes) === sealed ? bytes : null
  } catch {
    return null // not base64
  }
}
