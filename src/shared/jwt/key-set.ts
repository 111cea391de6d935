/** The public keys of one issuer of JWTs. */
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  errors,
  type FetchImplementation,
  type JSONWebKeySet,
  type JWTHeaderParameters,
} from 'jose'
import { readText } from '../lib/read-text.ts'
import { KeysUnavailable, RETRY_AFTER_SECONDS } from './jwt-error.ts'

export interface KeySet {
  /**
   * The key for a JWT with this header: of its `kid`, or without one if no key has it. Rejects with jose's
   * `JWKSMultipleMatchingKeys` or `JWKSNoMatchingKey`, or with `KeysUnavailable` if the keys, or newer ones
   * that might include it, cannot be fetched.
   */
  find(header: JWTHeaderParameters): Promise<CryptoKey>
  /** Fetches the keys, unless they are fresh. Rejects with `KeysUnavailable`. */
  warm(): Promise<void>
  /** Epoch milliseconds at which the fetch of the keys began; null without any. */
  fetchedAt(): number | null
}

export interface KeySetOptions {
  url: string
  fetch?: typeof globalThis.fetch | undefined
  /** Called when a fetch fails, but not again before one succeeds. */
  onOutage(cause: unknown): void
}

const FRESH_MS = 10 * 60_000

// If the identity provider is down, JWTs are verified with the last keys for 24 hours: each failed fetch makes them
// fresh once more.
const REUSABLE_MS = 24 * 3_600_000 - FRESH_MS

const MAX_BYTES = 256 * 1024

interface Loaded {
  keys: JSONWebKeySet
  /** Finds a key that has no `kid`. */
  findWithoutKid: ReturnType<typeof createLocalJWKSet>
  fetchedAt: number
}

/**
 * Fetches nothing until the keys are needed. jose fetches them again after 10 minutes, and for a `kid` that they lack
 * if they are older than 30 s.
 */
export function createKeySet({ url, fetch = globalThis.fetch, onOutage }: KeySetOptions): KeySet {
  let loaded: Loaded | null = null
  let failure: { cause: unknown; at: number } | null = null
  const remote = createRemoteJWKSet(new URL(url), { cacheMaxAge: FRESH_MS, [customFetch]: loadOrReuse })

  /** The keys, or during an outage those that were fetched before it. */
  async function loadOrReuse(...request: Parameters<FetchImplementation>): Promise<Response> {
    const now = Date.now()
    const reusable = loaded !== null && now - loaded.fetchedAt <= REUSABLE_MS ? loaded : null
    if (failure !== null && reusable === null && now - failure.at < RETRY_AFTER_SECONDS * 1000) {
      throw new KeysUnavailable(failure.cause)
    }
    try {
      loaded = await load(fetch, ...request)
      failure = null
      return Response.json(loaded.keys)
    } catch (cause) {
      if (failure === null) onOutage(cause)
      failure = { cause, at: Date.now() }
      if (reusable === null) throw new KeysUnavailable(cause)
      return Response.json(reusable.keys)
    }
  }

  return {
    async find(header) {
      try {
        return await remote(header)
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey) || loaded === null) throw error
        return await loaded.findWithoutKid({ alg: header.alg }).catch((without: unknown) => {
          // Newer keys may include it.
          const isMissing = without instanceof errors.JWKSNoMatchingKey
          throw isMissing && failure !== null ? new KeysUnavailable(failure.cause) : without
        })
      }
    },
    async warm() {
      if (!remote.fresh) await remote.reload()
    },
    fetchedAt: () => loaded?.fetchedAt ?? null,
  }
}

async function load(
  fetch: typeof globalThis.fetch,
  url: string,
  init: Parameters<FetchImplementation>[1],
): Promise<Loaded> {
  const fetchedAt = Date.now()
  const response = await fetch(url, init)
  // A redirect is not followed, and rejected because its status is not 200.
  if (response.status !== 200) {
    await response.body?.cancel()
    throw new Error(`The key set was answered with status ${response.status}`)
  }
  const body = await readText(response, MAX_BYTES)
  if (body === null || body.isTruncated) throw new Error('The key set is too large, or incomplete')
  const sent: JSONWebKeySet = JSON.parse(body.text)
  createLocalJWKSet(sent) // throws if it is not a key set
  // The algorithm has two names, and the issuer may use one in the keys and the other one in its JWTs.
  const keys = sent.keys.map(({ alg, ...key }) => (key.crv === 'Ed25519' || alg === undefined ? key : { ...key, alg }))
  const findWithoutKid = createLocalJWKSet({ keys: keys.filter(({ kid }) => kid === undefined) })
  return { keys: { keys }, findWithoutKid, fetchedAt }
}
