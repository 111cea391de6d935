/** Who sends a request, and what the policy lets it do: docs/access.md. */

/** A rule of the policy. In its patterns, a `*` at the end stands for any characters. */
export interface Rule {
  /** Unique. The only part of a rule that metrics and logs show. */
  name: string
  who: TokenHolder | JwtHolder
  /** A verb, a verb with a pattern for its handlers (`signal:app*`), or `*`. */
  can: readonly string[]
  /** Patterns of workflow ids, in which `{claim}` stands for the value of a claim. Default: all. */
  ids?: readonly string[] | undefined
  /** Patterns of workflow names. Default: all. */
  workflows?: readonly string[] | undefined
  /** Patterns of the task queues that a request may name. Default: the catalog of requests that name none. */
  catalogs?: readonly string[] | undefined
  /** Default: the namespace of paths without one. */
  namespaces?: readonly string[] | undefined
  /** Names of start options, and `headers` of messages; `*` for all. Default: none. */
  options?: readonly string[] | undefined
  limits?: CallerLimits | undefined
}

export interface TokenHolder {
  /** SHA-256 of the tokens, as 64 lower-case hexadecimal digits. */
  token: readonly string[]
}

export interface JwtHolder {
  /** Name of the issuer. */
  jwt: string
  /** Each claim, by name or JSON Pointer, must be one of the values, or an array with one of them. */
  claims: Readonly<Record<string, readonly string[]>>
}

/** What a caller may use of one replica. */
export interface CallerLimits {
  perSecond?: number | undefined
  /** How many requests may come at once. Default: `perSecond`, at least 1. */
  burst?: number | undefined
  inFlight?: number | undefined
  /** Requests that wait for results, events or updates. */
  waits?: number | undefined
}

/** Who sends a request, and what it may do. */
export type Caller = Identified & Rights

/** An operator may do everything, others what their rules allow. */
export type Rights = { kind: 'operator' } | { kind: 'granted'; grants: readonly Grant[] }

export type GrantedCaller = Extract<Caller, { kind: 'granted' }>

interface Identified {
  /**
   * Stays the same when a token or a JWT is replaced: `operator`, `token:ci`, `jwt:main:ada`. For an access token it is
   * that of its creator and a hash of what it may do: `token:ci/1f0c…`.
   */
  id: string
  /** Of the first of its rules that has limits. */
  limits: (CallerLimits & { rule: string }) | null
  /** Whose limits its requests count towards, if not its own: the creator of an access token. */
  delegatedBy?: string
  /** The only namespace that it may use; absent unless it has an access token. */
  namespace?: string
  /** What its credential proves, to find its rules again later; absent for operators and for access tokens. */
  identity?: Identity
  /** Epoch milliseconds after which the credential is rejected; absent if that never happens. */
  expiresAt?: number
}

/** What a credential proves: the hash of a token, or the claims that an issuer has signed. */
export type Identity = { token: string } | { jwt: string; claims: Readonly<Record<string, unknown>> }

/** A rule that applies to a caller: its patterns have the caller's claims filled in. */
export interface Grant extends Pick<Rule, 'can' | 'catalogs' | 'ids' | 'namespaces' | 'workflows'> {
  /** Null for the access token of an operator. */
  rule: string | null
  options: readonly string[]
}
