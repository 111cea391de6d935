/** Signs JWTs as an identity provider does. */
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'

export const ISSUER = 'https://login.example.com/'
export const AUDIENCE = 'portico'

export interface Signer {
  /** The public key, as in a key set. */
  jwk: JWK
  /** The private key. */
  key: CryptoKey
  /** The same, as an identity provider is configured with it. */
  privateJwk: JWK
  /** A JWT that is valid for `ada` for an hour, unless a claim or a part of the header says something else. */
  sign(claims?: Record<string, unknown>, header?: Record<string, unknown>): Promise<string>
}

export async function createSigner(kid = 'first', alg = 'ES256'): Promise<Signer> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
  const toJwk = async (key: CryptoKey) => ({ ...(await exportJWK(key)), kid, alg, use: 'sig' })
  return {
    jwk: await toJwk(publicKey),
    key: privateKey,
    privateJwk: await toJwk(privateKey),
    sign: (claims = {}, header = {}) =>
      new SignJWT(claimsOf(claims)).setProtectedHeader({ alg, kid, ...header }).sign(privateKey),
  }
}

/** Claims without those that are undefined. */
export function claimsOf(claims: Record<string, unknown> = {}): Record<string, unknown> {
  const now = Math.floor(Date.now() / 1000)
  const all = { iss: ISSUER, aud: AUDIENCE, sub: 'ada', exp: now + 3600, ...claims }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}

/** A JWT with these parts and no signature, or with the given one. */
export function unsigned(header: object, claims: object, signature = ''): string {
  const [first, second] = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
  return `${first}.${second}.${signature}`
}
