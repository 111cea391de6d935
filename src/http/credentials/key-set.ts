/** The public keys of one issuer of JWTs. */
import { createLocalJWKSet } from 'jose'
import { readText } from '../../lib/read-text.ts'
import { keysUnavailable, RETRY_AFTER_SECONDS } from './rejection.ts'

/** Keys that were fetched together. */
export interface Keys {
  /** The key for a JWT with this header. Rejects with `JWKSNoMatchingKey` if there is no such key. */
  find: ReturnType<typeof createLocalJWKSet>
  /** Epoch milliseconds at which their fetch began. */
  fetchedAt: number
}

export interface KeySet {
  /**
   * The keys; a promise if they are not fresh and must be fetched. Throws or rejects with an `AuthUnavailableError` if
   * there are no usable keys.
   */
  current(): Keys | Promise<Keys>
  /**
   * Newer keys, for a JWT whose key is not in `keys`. They are fetched, but at most once in 30 s. Null if `keys` are
   * not older than the last such fetch. Rejects with an `AuthUnavailableError` if that has failed.
   */
  newerThan(keys: Keys): Promise<Keys | null>
  /** Epoch milliseconds at which the keys were fetched; null without any. */
  fetchedAt(): number | null
}

export interface KeySetOptions {
  url: string
  fetch?: typeof globalThis.fetch | undefined
  now?: (() => number) | undefined
  /** False where a request cannot await a promise of another request (workerd): only keys are shared then. */
  sharesPending?: boolean | undefined
  /** Called when a fetch fails, but not again before one succeeds. */
  onOutage(cause: unknown): void
}

const FRESH_MS = 10 * 60_000

// If the identity provider is down, JWTs are verified with the last keys for this time.
const USABLE_MS = 24 * 3_600_000

// A flood of JWTs with unknown keys must not become a flood of fetches.
const SEARCH_EVERY_MS = 30_000

const TIMEOUT_MS = 5000
const MAX_BYTES = 256 * 1024

/** Fetches nothing until the keys are needed. */
export function createKeySet(options: KeySetOptions): KeySet {
  const { url, fetch = globalThis.fetch, now = Date.now, sharesPending = true, onOutage } = options
  let keys: Keys | null = null
  let pending: Promise<Keys> | null = null
  let searchedAt = Number.NEGATIVE_INFINITY
  let failedAt = Number.NEGATIVE_INFINITY
  let failure: unknown = null

  async function load(): Promise<Keys> {
    const fetchedAt = now()
    try {
      const loaded = { find: createLocalJWKSet(await fetchKeys(url, fetch)), fetchedAt }
      failure = null
      // Without `sharesPending`, an older fetch can end after a newer one. The newer keys are kept.
      if (keys === null || keys.fetchedAt <= fetchedAt) keys = loaded
      return keys
    } catch (cause) {
      if (failure === null) onOutage(cause)
      failedAt = now()
      failure = cause
      throw keysUnavailable(cause)
    }
  }

  function loadOrShare(): Promise<Keys> {
    if (!sharesPending) return load()
    pending ??= load().finally(() => {
      pending = null
    })
    return pending
  }

  async function loadOr(old: Keys): Promise<Keys> {
    try {
      return await loadOrShare()
    } catch {
      return old // the outage was reported
    }
  }

  return {
    current() {
      const ageMs = keys === null ? Number.POSITIVE_INFINITY : now() - keys.fetchedAt
      if (keys !== null && ageMs < FRESH_MS) return keys
      const sinceFailureMs = now() - failedAt
      if (keys !== null && ageMs < USABLE_MS) return sinceFailureMs < SEARCH_EVERY_MS ? keys : loadOr(keys)
      if (sinceFailureMs < RETRY_AFTER_SECONDS * 1000) throw keysUnavailable(failure)
      return loadOrShare()
    },
    async newerThan(old) {
      if (keys !== null && keys.fetchedAt > old.fetchedAt) return keys
      if (pending !== null) return pending
      if (now() - searchedAt >= SEARCH_EVERY_MS) {
        searchedAt = now()
        return loadOrShare()
      }
      // The last search has failed, or is still in flight for a request that this one cannot wait for.
      if (old.fetchedAt < searchedAt) throw keysUnavailable(failure)
      return null
    },
    fetchedAt: () => keys?.fetchedAt ?? null,
  }
}

async function fetchKeys(
  url: string,
  fetch: typeof globalThis.fetch,
): Promise<Parameters<typeof createLocalJWKSet>[0]> {
  const response = await fetch(url, {
    headers: { Accept: 'application/json' },
    // workerd does not know 'error'. A redirect is rejected below, because its status is not 200.
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  if (response.status !== 200) {
    await response.body?.cancel()
    throw new Error(`The key set was answered with status ${response.status}`)
  }
  const body = await readText(response, MAX_BYTES)
  if (body === null || body.isTruncated) throw new Error('The key set is too large, or incomplete')
  return JSON.parse(body.text)
}
