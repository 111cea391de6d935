/**
 * Steps that identify the caller of a request, reject callers that no rule allows such a request or its namespace, and
 * end a request that waits when its caller may no longer wait.
 */
import type { Context } from 'hono'
import type { Caller, Grant } from '../../../shared/access/caller.ts'
import { type Access, callerIn, mayUse } from '../../../shared/access/grant.ts'
import { matchesAny } from '../../../shared/access/patterns.ts'
import { callAt, retryWithBackoff } from '../../../shared/lib/abort.ts'
import { forbidden } from '../../access/decide.ts'
import { CREDENTIAL_EXPIRED, CREDENTIAL_REVOKED, type DecideAgain } from '../../model/call.ts'
import { hasErrorName, invalidValue, ServiceError } from '../../model/errors.ts'
import { type Env, type RequestCheck, type RequestStep, setHeader, whenResponded, whenSent } from '../context.ts'
import { isAccessToken, URL_TOKEN } from '../credentials/access-tokens.ts'
import type { Callers } from '../credentials/callers.ts'
import { unauthorized } from '../credentials/rejection.ts'
import type { Endpoint } from '../endpoint.ts'
import { prefersEvents } from '../prefer.ts'

/**
 * Sets `urlToken`, or rejects a request whose URL must not have a token. `endpoint` is null for a path without a route.
 *
 * The EventSource of browsers cannot send headers, so it sends the token in the URL. Logs and browser histories contain
 * URLs. Therefore a URL may only contain an access token, and only if the response is a stream of events.
 */
export function takeUrlToken(endpoint: Endpoint | null): RequestStep {
  return (c) => {
    if (c.req.method === 'OPTIONS') return
    const tokens = tokensIn(c.req.raw.url)
    const [token] = tokens
    if (token === undefined) return
    setHeader(c, 'Referrer-Policy', 'no-referrer')
    if (endpoint === null || !isEventStream(c, endpoint))
      throw rejectedInUrl(`is only for streams of events, with Accept: text/event-stream${USE_HEADER}`)
    if (tokens.length > 1 || c.req.header('Authorization') !== undefined)
      throw rejectedInUrl('must be the only credential of the request')
    if (!isAccessToken(token)) throw rejectedInUrl(`must be an access token of POST /tokens${USE_HEADER}`)
    c.set('urlToken', `Bearer ${token}`)
  }
}

const USE_HEADER = '; send any other credential in the Authorization header'

/** Never shows the value. */
function rejectedInUrl(message: string): ServiceError {
  return invalidValue(`/${URL_TOKEN}`, message)
}

/** An endpoint that can respond with JSON too responds with events only if `Accept` prefers them. */
function isEventStream(c: Context<Env>, { responses }: Endpoint): boolean {
  const { events, schema } = responses[200] ?? {}
  return c.req.method === 'GET' && events !== undefined && (schema === undefined || prefersEvents(c))
}

function tokensIn(url: string): string[] {
  const at = url.indexOf('?')
  // Most requests have no query string.
  return at === -1 ? [] : new URLSearchParams(url.slice(at)).getAll(URL_TOKEN)
}

/** Sets `caller`, or rejects the request. */
export function authenticate(callers: Callers): RequestStep {
  return (c) => {
    c.set('policyChanges', callers.policyChanges())
    const caller = callers.identify(c.get('urlToken') ?? c.req.header('Authorization'))
    if (caller instanceof Promise) return caller.then((found) => setCaller(c, found))
    return setCaller(c, caller)
  }
}

/** Throws unless `authenticate` would find the caller without a promise. For checks before a request reaches an app. */
export function requireKnownCaller(callers: Callers): RequestCheck {
  return (c) => {
    if (!callers.knows(c.req.header('Authorization'))) throw UNKNOWN_YET
  }
}

// Never sent to a client, so all requests share one error: a new one each time would record a stack.
const UNKNOWN_YET = unauthorized('unknown token')

/**
 * Rejects callers that have no rule with this right, before the body is read. The verb decides later which runs the
 * rules allow.
 */
export function authorize(access: Access): RequestStep {
  return (c) => {
    const caller = c.get('caller')
    if (caller === undefined || mayUse(caller, access)) return
    c.get('audit').push({ action: access, rule: 'none' })
    throw forbidden(access)
  }
}

/** Rejects callers that have no rule with this right for the catalog. For messages that may not even read it. */
export function authorizeInCatalog(
  c: Context<Env>,
  access: Access,
  { catalog, defaultCatalog }: { catalog: string; defaultCatalog: string },
): void {
  const caller = c.get('caller')
  const names = ({ catalogs = [defaultCatalog] }: Grant) => matchesAny(catalogs, catalog)
  if (caller === undefined || mayUse(caller, access, names)) return
  c.get('audit').push({ action: access, rule: 'none' })
  throw forbidden(access, [`catalog ${catalog}`])
}

function setCaller(c: Context<Env>, caller: Caller): undefined {
  c.set('caller', caller)
}

type FollowedCallers = Pick<Callers, 'identify' | 'onPolicy' | 'policyChanges'>

/**
 * Aborts `signal` when the credential expires, and when a new policy does not allow the request. The client can
 * continue with another credential. `restrict` leaves a caller the rules for the namespace of the request.
 */
export function endWithCredential(callers: FollowedCallers | null, restrict: (caller: Caller) => Caller): RequestStep {
  return (c) => {
    const caller = c.get('caller')
    if (caller === undefined || callers === null) return
    const { expiresAt, kind } = caller
    if (expiresAt !== undefined)
      untilSent(
        c,
        callAt(expiresAt, () => c.get('abort')(CREDENTIAL_EXPIRED)),
      )
    // The tokens of operators are not part of the policy.
    if (kind === 'granted') untilSent(c, followPolicy(c, caller, callers, restrict))
  }
}

function untilSent(c: Context<Env>, stop: () => void): void {
  whenResponded(c, () => whenSent(c, stop))
}

function followPolicy(
  c: Context<Env>,
  caller: Caller,
  { identify, onPolicy, policyChanges }: FollowedCallers,
  restrict: (caller: Caller) => Caller,
): () => void {
  const authorization = c.get('urlToken') ?? c.req.header('Authorization')
  const abort = c.get('abort')
  const signal = c.get('signal')
  const decisions = new Map<string, DecideAgain>()
  let current = caller
  let checks = 0
  let isOpen = true

  /** Repeats `act` through outages, which deny nothing. */
  async function orRevoke<T>(act: () => T, isObsolete: () => boolean): Promise<Awaited<T> | null> {
    const isOver = () => !isOpen || signal.aborted || isObsolete()
    try {
      return await retryWithBackoff(async () => await act(), {
        signal,
        delayMs(error, retries) {
          if (isDenial(error) || isOver()) throw error
          c.get('facts').undecided = String(error)
          return Math.min(FIRST_PAUSE_MS * 2 ** retries, MAX_PAUSE_MS)
        },
        async beforeRetry(error) {
          if (isOver()) throw error
        },
      })
    } catch (error) {
      if (isDenial(error) && !isOver()) abort(CREDENTIAL_REVOKED)
      return null
    }
  }

  async function check(): Promise<void> {
    checks++
    const own = checks
    const found = await orRevoke(
      () => identify(authorization),
      () => own !== checks,
    )
    if (found === null || own !== checks) return
    const next = restrict(found)
    if (isSame(next, current)) return
    current = next
    for (const decide of decisions.values()) repeat(decide)
  }

  function repeat(decide: DecideAgain): void {
    const decidedFor = current
    void orRevoke(
      () => decide(decidedFor),
      () => decidedFor !== current,
    )
  }

  c.set('followPolicy', {
    callerNow: () => current,
    decideAgain(key, decide, decidedFor) {
      decisions.set(key, decide)
      if (decidedFor !== current) repeat(decide)
    },
  })
  const stop = onPolicy(() => void check())
  // The policy may have changed since the caller was identified, for example while the request waited for its place.
  if (c.get('policyChanges') !== policyChanges()) void check()
  return () => {
    isOpen = false
    stop()
  }
}

const FIRST_PAUSE_MS = 100
const MAX_PAUSE_MS = 5000

function isDenial(error: unknown): boolean {
  return hasErrorName(error, 'ForbiddenError', 'NotFoundError', 'UnauthorizedError', 'WorkflowNotFoundError')
}

function isSame(one: Caller, other: Caller): boolean {
  return JSON.stringify(rightsIn(one)) === JSON.stringify(rightsIn(other))
}

function rightsIn(caller: Caller) {
  return [caller.kind === 'granted' ? caller.grants : null, caller.namespace]
}

interface NamespaceOptions {
  name: string
  /** Whether the service has this namespace. */
  exists: boolean
  /** The namespace of paths without one. */
  defaultNamespace: string
  /** Whether the paths begin with `/namespaces/<name>`. */
  isNamespaced: boolean
}

/**
 * Rejects callers without a rule for the namespace; for the others, only these rules count from now on. Below
 * `/namespaces/<name>` the response is that of a namespace that does not exist, so that callers cannot find out which
 * namespaces there are. OPTIONS needs no credential, so it gets the same response for every name.
 */
export function requireNamespace(options: NamespaceOptions, access: Access = 'any'): RequestStep {
  const { name, exists, defaultNamespace, isNamespaced } = options
  const error = isNamespaced ? namespaceNotFound : () => forbidden('namespace', ['paths without /namespaces/<name>'])

  /** Restricts the caller to its rules for the namespace. */
  function restrict(c: Context<Env>, caller: Caller): undefined {
    const restricted = callerIn(caller, name, defaultNamespace)
    if (restricted.kind === 'operator') return
    if (!exists || restricted.grants.length === 0) {
      const withoutRules = !isNamespaced && caller.kind === 'granted' && caller.grants.length === 0
      c.get('audit').push({ action: withoutRules ? access : 'namespace', rule: 'none' })
      throw withoutRules ? noRule(access) : error()
    }
    c.set('caller', restricted)
  }

  return (c) => {
    if (c.req.method === 'OPTIONS') return undefined
    const caller = c.get('caller')
    if (caller !== undefined) restrict(c, caller)
    if (!exists) throw error()
    if (isNamespaced) c.get('facts').namespace = name
    return undefined
  }
}

function noRule(action: Access): ServiceError {
  return new ServiceError('ForbiddenError', 'No rule applies to this credential', {
    details: { action },
    reason: 'no rule',
  })
}

function namespaceNotFound(): ServiceError {
  return new ServiceError('NotFoundError', 'This namespace does not exist, or the credential does not allow its use')
}
