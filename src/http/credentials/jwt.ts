/** Verifies JWTs of the issuers of a policy. Loaded with the first one, because only some policies have issuers. */
import { decodeJwt, errors, type JWTVerifyGetKey, jwtVerify } from 'jose'
import { ServiceError } from '../../domain/model/errors.ts'
import { createKeySet, type KeySet, type KeySetOptions } from './key-set.ts'
import { unauthorized } from './rejection.ts'

/** An identity provider. */
export interface Issuer {
  /** The exact value of the claim `iss`. */
  issuer: string
  /** The claim `aud` must contain one of these. */
  audience: readonly string[]
  jwksUrl: string
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
  /** Rejects with an `UnauthorizedError`, or with an `AuthUnavailableError` if the keys cannot be fetched. */
  verify(jwt: string, issuers: Issuers): Promise<VerifiedJwt>
  /** Fetches the keys. Never rejects. */
  warm(issuers: Issuers): Promise<void>
  /** How old the keys of each issuer are, in seconds. Leaves out issuers whose keys were never fetched. */
  keyAges(issuers: Issuers): [issuer: string, seconds: number][]
}

export interface JwtVerifierOptions extends Pick<KeySetOptions, 'fetch' | 'now' | 'sharesPending'> {
  /** Called when keys cannot be fetched, once for each outage. */
  onKeysUnavailable(issuer: string, cause: unknown): void
}

// Only algorithms with a key pair: with HS256, an attacker could use the public key as the shared secret.
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA']

const MAX_CHARACTERS = 8192

const CLOCK_SKEW_SECONDS = 30

// The limit of OpenID Connect: https://openid.net/specs/openid-connect-core-1_0.html#IDToken. The encoded subject, at
// most three times as long, is part of the identity of our calls. The engine rejects an identity of over 1000 bytes.
const MAX_SUBJECT_BYTES = 255

export function createJwtVerifier({ onKeysUnavailable, ...options }: JwtVerifierOptions): JwtVerifier {
  const { now = Date.now } = options
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
        if (jwt.length > MAX_CHARACTERS) throw unauthorized('not valid')
        const { iss } = decodeJwt(jwt)
        const found = Object.entries(issuers).find(([, { issuer }]) => issuer === iss)
        if (found === undefined) throw unauthorized('not valid')
        const [name, issuer] = found
        const { payload: claims } = await jwtVerify(jwt, keyFinder(keySetOf(name, issuer)), {
          algorithms: ALGORITHMS,
          issuer: issuer.issuer,
          audience: [...issuer.audience],
          requiredClaims: ['exp', 'sub'],
          clockTolerance: CLOCK_SKEW_SECONDS,
          currentDate: new Date(now()),
        })
        const { sub, exp } = claims
        if (!isSubject(sub) || exp === undefined) throw unauthorized('not valid')
        return { issuer: name, claims, expiresAt: (now() < exp * 1000 ? exp : exp + CLOCK_SKEW_SECONDS) * 1000 }
      } catch (error) {
        throw toRejection(error)
      }
    },
    async warm(issuers) {
      const keySetsToWarm = Object.entries(issuers).map(([name, issuer]) => keySetOf(name, issuer))
      // A failure is already reported to `onKeysUnavailable`. A later JWT causes another fetch.
      await Promise.allSettled(keySetsToWarm.map(async (keySet) => keySet.current()))
    },
    keyAges: (issuers) =>
      Object.entries(issuers).flatMap(([name, issuer]) => {
        const fetchedAt = keySetOf(name, issuer).fetchedAt()
        return fetchedAt === null ? [] : [[name, Math.max(0, now() - fetchedAt) / 1000]]
      }),
  }
}

function isSubject(sub: unknown): boolean {
  return typeof sub === 'string' && sub !== '' && new TextEncoder().encode(sub).length <= MAX_SUBJECT_BYTES
}

/** Finds the key for a JWT. If it is missing, uses newer keys, because the issuer may have added it since the fetch. */
function keyFinder(keySet: KeySet): JWTVerifyGetKey {
  return async (header, token) => {
    const keys = await keySet.current()
    try {
      return await keys.find(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      const newer = await keySet.newerThan(keys)
      if (newer === null) throw error
      return newer.find(header, token)
    }
  }
}

/** Any other error means that the JWT is not valid: its content decides what is parsed, and so which errors occur. */
function toRejection(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  return unauthorized(error instanceof errors.JWTExpired ? 'expired' : 'not valid', error)
}
