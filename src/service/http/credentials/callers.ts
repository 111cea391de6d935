/** Finds out who sends a request. */

import type { Caller, Rule } from '../../../shared/access/caller.ts'
import { callerOf } from '../../../shared/access/grant.ts'
import { EXPIRED } from '../../../shared/jwt/jwt-error.ts'
import { lazy } from '../../../shared/lib/cache.ts'
import { anyEqual, sha256, toBytes } from '../../../shared/lib/digest.ts'
import { presentedTokens } from '../../../shared/lib/presented-tokens.ts'
import { type WeighedCache, weighedCache } from '../../../shared/lib/weighed-cache.ts'
import { delegateOf } from '../../access/delegate.ts'
import { type AccessTokens, isAccessToken } from './access-tokens.ts'
import type { Issuers, JwtVerifierOptions } from './jwt.ts'
import { HEADER_MISSING, unauthorized } from './rejection.ts'

/** Who may do what. */
export interface TokenPolicy {
  issuers: Issuers
  rules: readonly Rule[]
}

export interface Callers {
  /**
   * The caller with this `Authorization` header. Not a promise for an operator, or for a credential that was verified
   * within the last minute. Throws or rejects with an `UnauthorizedError`, or with an `AuthUnavailableError` if the
   * keys of the issuer cannot be fetched.
   */
  identify(authorization: string | undefined): Caller | Promise<Caller>
  /** Whether `identify` would return the caller without a promise. */
  knows(authorization: string | undefined): boolean
  /** The rule of the policy; undefined if it has none of this name. */
  findRule(name: string): Rule | undefined
  /** Replaces the policy, for all later requests. */
  setPolicy(policy: TokenPolicy | null): void
  /** How often the policy was replaced. */
  policyChanges(): number
  /** Calls `act` after each change of the policy, until the returned function is called. */
  onPolicy(act: () => void): () => void
  /** Fetches the keys of all issuers. Never rejects. */
  warm(): Promise<void>
  /** How old the keys of each issuer are, in seconds. */
  keyAges(): [issuer: string, seconds: number][]
}

export interface CallersOptions extends JwtVerifierOptions {
  /** Their holders may do everything. */
  operatorTokens: readonly string[]
  policy: TokenPolicy | null
  /** Opens access tokens. Default: none is valid. */
  accessTokens?: AccessTokens | null
}

export const OPERATOR: Caller = { kind: 'operator', id: 'operator', limits: null }

// How long a verified credential is not verified again. A new policy ends this for all credentials.
const REMEMBERED_MS = 60_000

const MAX_REMEMBERED = 10_000
const MAX_REMEMBERED_BYTES = 32 * 1024 * 1024

// The estimated size of a cached caller: its id, and its grants with the claims filled into their patterns.
const CALLER_BYTES = 1024

interface PolicyInForce {
  policy: TokenPolicy
  /** The key is the whole header: a JWT is valid only as a whole, so no part of it may identify the caller. */
  remembered: WeighedCache<{ caller: Caller; expiresAt: number }>
}

export function createCallers({ operatorTokens, policy, accessTokens = null, ...options }: CallersOptions): Callers {
  const operators = operatorTokens.map(toBytes)
  const jwts = lazy(
    () => import('./jwt.ts'),
    ({ createJwtVerifier }) => createJwtVerifier(options),
  )
  // Operators can create access tokens without a policy.
  const withoutPolicy = accessTokens === null ? null : NO_POLICY
  let current = inForce(policy ?? withoutPolicy)
  const acts = new Set<() => void>()
  let changes = 0

  /** The caller, if no promise is needed to find it. */
  function recall(authorization: string): Caller | null {
    const known = current?.remembered.get(authorization)
    if (known !== undefined && known.expiresAt > Date.now()) return known.caller
    return anyEqual(presentedTokens(authorization).map(toBytes), operators) ? OPERATOR : null
  }

  async function verify({ policy, remembered }: PolicyInForce, authorization: string): Promise<Caller> {
    const presented = presentedTokens(authorization)
    const caller =
      (await ofAccessToken(presented, policy)) ?? (await ofToken(presented, policy)) ?? (await ofJwt(presented, policy))
    const { expiresAt = Number.POSITIVE_INFINITY } = caller
    const until = Math.min(expiresAt, Date.now() + REMEMBERED_MS)
    // An entry counts as at least MAX_REMEMBERED_BYTES / MAX_REMEMBERED bytes, so there are at most MAX_REMEMBERED.
    const bytes = Math.max(CALLER_BYTES, MAX_REMEMBERED_BYTES / MAX_REMEMBERED - 2 * authorization.length)
    remembered.set(authorization, { caller, expiresAt: until }, bytes)
    return caller
  }

  /** A token whose creator has lost its rules is not valid. */
  async function ofAccessToken(presented: readonly string[], policy: TokenPolicy): Promise<Caller | null> {
    for (const text of presented) {
      const token = (await accessTokens?.open(text)) ?? null
      if (token === null) continue
      const { expiresAt } = token
      if (expiresAt <= Date.now()) throw unauthorized(EXPIRED)
      const caller = delegateOf(token, OPERATOR, policy)
      if (caller === null) throw unauthorized('rule is gone')
      return { ...caller, expiresAt }
    }
    return null
  }

  async function ofJwt(presented: readonly string[], { issuers, rules }: TokenPolicy): Promise<Caller> {
    const jwt = presented.find((token) => JWT.test(token))
    if (jwt === undefined) throw unauthorized(presented.some(isAccessToken) ? 'signature' : 'unknown token')
    if (isEmpty(issuers)) throw unauthorized('unknown issuer')
    const { issuer, claims, expiresAt } = await (await jwts.get()).verify(jwt, issuers)
    const caller = callerOf({ jwt: issuer, claims }, { rules })
    if (caller === null) throw unauthorized('no rule')
    return { ...caller, expiresAt }
  }

  return {
    identify(authorization = '') {
      if (authorization.trim() === '') throw unauthorized(HEADER_MISSING)
      const caller = recall(authorization)
      if (caller !== null) return caller
      if (current === null) throw unauthorized('unknown token')
      return verify(current, authorization)
    },
    knows: (authorization) => authorization !== undefined && recall(authorization) !== null,
    findRule: (name) => current?.policy.rules.find((rule) => rule.name === name),
    setPolicy(policy) {
      current = inForce(policy ?? withoutPolicy)
      changes++
      for (const act of acts) act()
    },
    policyChanges: () => changes,
    onPolicy(act) {
      acts.add(act)
      return () => void acts.delete(act)
    },
    async warm() {
      const { issuers = {} } = current?.policy ?? {}
      if (!isEmpty(issuers)) await (await jwts.get()).warm(issuers)
    },
    keyAges: () => jwts.current?.keyAges(current?.policy.issuers ?? {}) ?? [],
  }
}

// The form of a JWT. Other strings are rejected without parsing them.
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/

const NO_POLICY: TokenPolicy = { issuers: {}, rules: [] }

function inForce(policy: TokenPolicy | null): PolicyInForce | null {
  if (policy === null) return null
  return { policy, remembered: weighedCache({ maxBytes: MAX_REMEMBERED_BYTES, maxAgeMs: REMEMBERED_MS }) }
}

/** The caller with the first token whose hash is in a rule. That hash itself cannot be used as a token. */
async function ofToken(presented: readonly string[], { rules }: TokenPolicy): Promise<Caller | null> {
  for (const token of presented) {
    const caller = callerOf({ token: await sha256(token) }, { rules })
    if (caller !== null) return caller
  }
  return null
}

function isEmpty(issuers: Issuers): boolean {
  return Object.keys(issuers).length === 0
}
