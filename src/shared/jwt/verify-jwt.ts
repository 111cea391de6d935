/** Verifies JWTs of the issuers of a policy. */
import {
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  type JWTVerifyOptions,
  type JWTVerifyResult,
  jwtVerify,
} from 'jose'
import { claimValue } from '../access/patterns.ts'
import { EXPIRED, JwtRejection, KeysUnavailable } from './jwt-error.ts'
import { createKeySet, type KeySet, type KeySetOptions } from './key-set.ts'

/** An identity provider. */
export interface Issuer {
  /** The exact value of the claim `iss`. */
  issuer: string
  /** The claim `audienceClaim` must contain one of these. */
  audience: readonly string[]
  /** Its name, or a JSON Pointer. Default: `aud`. */
  audienceClaim?: string | undefined
  jwksUrl: string
  /** The `typ` in the header of its JWTs. Default: any. */
  typ?: string | undefined
}

/** By the names that rules use. */
export type Issuers = Readonly<Record<string, Issuer>>

export interface VerifiedJwt {
  /** The name of its issuer. */
  issuer: string
  claims: Record<string, unknown>
  /** Epoch milliseconds: `exp`; if that has passed, `exp` and the tolerance for clocks that differ. */
  expiresAt: number
}

export interface JwtVerifier {
  /** Rejects with a `JwtRejection`, or with `KeysUnavailable`. */
  verify(jwt: string, issuers: Issuers): Promise<VerifiedJwt>
  /** Fetches the keys. Never rejects. */
  warm(issuers: Issuers): Promise<void>
  /** How old the keys of each issuer are, in seconds. Leaves out issuers whose keys were never fetched. */
  keyAges(issuers: Issuers): [issuer: string, seconds: number][]
}

export interface JwtVerifierOptions extends Pick<KeySetOptions, 'fetch'> {
  /** Called when keys cannot be fetched, once for each outage. */
  onKeysUnavailable(issuer: string, cause: unknown): void
}

// Only algorithms with a key pair: with HS256, an attacker could use the public key as the shared secret.
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA', 'Ed25519']

const MAX_CHARACTERS = 8192

const CLOCK_SKEW_SECONDS = 30

// The limit of OpenID Connect: https://openid.net/specs/openid-connect-core-1_0.html#IDToken. The encoded subject, at
// most three times as long, is part of the identity of our calls. The engine rejects an identity of over 1000 bytes.
const MAX_SUBJECT_BYTES = 255

export function createJwtVerifier({ onKeysUnavailable, ...options }: JwtVerifierOptions): JwtVerifier {
  // Shared by all policies, so that issuers that have not changed keep their keys when a new policy is loaded.
  const keySets = new Map<string, KeySet>()

  function keySetOf(name: string, { jwksUrl }: Issuer): KeySet {
    const id = `${name} ${jwksUrl}`
    const existing = keySets.get(id)
    if (existing !== undefined) return existing
    const created = createKeySet({ ...options, url: jwksUrl, onOutage: (cause) => onKeysUnavailable(name, cause) })
    keySets.set(id, created)
    return created
  }

  return {
    async verify(jwt, issuers) {
      try {
        if (jwt.length > MAX_CHARACTERS) throw new JwtRejection('too long')
        const { iss } = decodeJwt(jwt)
        const found = Object.entries(issuers).find(([, { issuer }]) => issuer === iss)
        if (found === undefined) throw new JwtRejection('unknown issuer')
        const [name, issuer] = found
        const { payload: claims } = await verifyWith(keySetOf(name, issuer), jwt, {
          algorithms: ALGORITHMS,
          issuer: issuer.issuer,
          ...(issuer.audienceClaim === undefined && { audience: [...issuer.audience] }),
          ...(issuer.typ !== undefined && { typ: issuer.typ }),
          requiredClaims: ['exp', 'sub'],
          clockTolerance: CLOCK_SKEW_SECONDS,
        })
        return { issuer: name, claims, expiresAt: expiryOf(claims, issuer) }
      } catch (error) {
        throw toRejection(error)
      }
    },
    async warm(issuers) {
      const keySetsToWarm = Object.entries(issuers).map(([name, issuer]) => keySetOf(name, issuer))
      // A failure is already reported to `onKeysUnavailable`. A later JWT causes another fetch.
      await Promise.allSettled(keySetsToWarm.map((keySet) => keySet.warm()))
    },
    keyAges: (issuers) =>
      Object.entries(issuers).flatMap(([name, issuer]) => {
        const fetchedAt = keySetOf(name, issuer).fetchedAt()
        return fetchedAt === null ? [] : [[name, Math.max(0, Date.now() - fetchedAt) / 1000]]
      }),
  }
}

/** Epoch milliseconds. Throws if a claim that `jwtVerify` does not check is not valid. */
function expiryOf(claims: JWTPayload, issuer: Issuer): number {
  const { sub, exp } = claims
  if (!isSubject(sub) || exp === undefined) throw new JwtRejection('sub')
  if (!isFor(issuer, claims)) throw new JwtRejection(issuer.audienceClaim ?? 'aud')
  return (Date.now() < exp * 1000 ? exp : exp + CLOCK_SKEW_SECONDS) * 1000
}

/** `jwtVerify` has compared `aud`. */
function isFor({ audience, audienceClaim }: Issuer, claims: Record<string, unknown>): boolean {
  if (audienceClaim === undefined) return true
  return [claimValue(claims, audienceClaim)].flat().some((value) => audience.includes(value as string))
}

function isSubject(sub: unknown): boolean {
  return (
    typeof sub === 'string' &&
    sub !== '' &&
    sub.isWellFormed() &&
    new TextEncoder().encode(sub).length <= MAX_SUBJECT_BYTES
  )
}

/** Of several keys without a `kid`, that of the JWT is found by its signature. */
async function verifyWith(keySet: KeySet, jwt: string, options: JWTVerifyOptions): Promise<JWTVerifyResult> {
  try {
    return await jwtVerify(jwt, keySet.find, options)
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys) || decodeProtectedHeader(jwt).kid === undefined) throw error
    for await (const key of error) {
      try {
        return await jwtVerify(jwt, key, options)
      } catch (rejection) {
        if (!(rejection instanceof errors.JWSSignatureVerificationFailed)) throw rejection
      }
    }
    throw error
  }
}

/** Any other error means that the JWT is not valid: its content decides what is parsed, and so which errors occur. */
function toRejection(error: unknown): JwtRejection | KeysUnavailable {
  if (error instanceof JwtRejection || error instanceof KeysUnavailable) return error
  return new JwtRejection(reasonOf(error), error)
}

function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return EXPIRED
  if (error instanceof errors.JWTClaimValidationFailed) return error.claim
  if (error instanceof errors.JWKSNoMatchingKey) return 'no matching key'
  if (error instanceof errors.JOSEAlgNotAllowed) return 'alg'
  return error instanceof errors.JWSSignatureVerificationFailed ? 'signature' : 'not a JWT'
}

/** What a JWT says, whether it is valid or not. Null if it is not a JWT. */
export function unverifiedClaims(jwt: string): Record<string, unknown> | null {
  try {
    return decodeJwt(jwt)
  } catch {
    // Only jose's parser can say what a JWT is.
    return null
  }
}
