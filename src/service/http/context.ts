/**
 * The variables of a request, the steps that it passes before its handler, and its response. All responses are created
 * here, with a plain object of headers: Hono's own `c.header`, `c.body` and `c.json` create a `Headers` object, which
 * costs a tenth of a small request.
 */
import type { Context } from 'hono'
import type { Log } from '../../log.ts'
import type { Caller } from '../../shared/access/caller.ts'
import type { AuditFacts, Call } from '../model/call.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import { docsUrl, NOT_STORED } from './problem.ts'

/** A slot for a request in flight, of which there is a limited number. */
export interface Place {
  /** Frees the place. Further calls have no effect. */
  leave(): void
  isLeft(): boolean
  /** How long the request has waited for it. */
  waitedMs: number
}

/** The variables of a request in the Hono context. Read them with `c.get`: each use of `c.var` copies all of them. */
export interface Env {
  Bindings: {
    /** The place in flight that the request got before it reached the app. */
    place?: Place
  }
  Variables: {
    requestId: string
    /** Headers of the response. Add to them with `setHeader`. */
    headers: Record<string, string>
    /** Prefix of every path in a response. */
    basePath: string
    /** Prefix of every `Location`: an URL if the address for clients is known. */
    locationBase: string
    /** Fields of the request's log line. */
    facts: Record<string, unknown>
    log: Log
    /** The token in the query string, as an `Authorization` header. */
    urlToken?: string
    /** Absent where no credential is required. */
    caller?: Caller
    /** The decisions of the request, for the audit log. */
    audit: Decision[]
    /** The run that the request has read. */
    run?: Decision
    /** The trace context for the workflow or message; undefined if the request has none. */
    traceContext?: () => Readonly<Record<string, string>> | undefined
    /** Headers of the request for workers. Only set with `SERVICE_FORWARD_HEADERS`. */
    forwardedHeaders?: Readonly<Record<string, string>>
    /** Aborts when the client disconnects or the server shuts down. Only set for routes that are `abortable`. */
    signal: AbortSignal
    /** Aborts `signal`. For event streams, which can notice a disconnect before the request's own signal does. */
    abort: (reason?: unknown) => void
    /** Waits until the request has a place, or rejects it. Call it after reading the body, which may lose the place. */
    takePlace: () => Promise<void>
    /**
     * Counts the request as in flight from now on. Returns the function that ends this: `startWaiting` of its `Call`.
     */
    startWork: () => () => void
    /** Ends the request's share of what its caller may have in flight. Absent for callers without limits. */
    endWork?: () => void
    /** Counts the request as that many waits of its caller, instead of one. Absent for callers without limits. */
    countWaits?: (waits: number) => void
    /** How often the policy had changed when the caller was identified. */
    policyChanges?: number
    /** Absent if no policy can end the request. */
    followPolicy?: Pick<Call, 'callerNow' | 'decideAgain'>
    /** Set by the first `toCall`. */
    call?: Call
    /** Called in reverse order when the response is ready. */
    whenResponded: (() => void)[]
    /** Set for a streamed response; resolves when its last chunk has been written. */
    sent?: Promise<void>
  }
}

/** The `Call` to pass to every verb of the request. Its deadline counts from the first use, after the body was read. */
export function toCall(c: Context<Env>): Call {
  const existing = c.get('call')
  if (existing !== undefined) return existing
  const call = createCall(c)
  c.set('call', call)
  return call
}

function createCall(c: Context<Env>): Call {
  const forwardedHeaders = c.get('forwardedHeaders')
  const caller = c.get('caller')
  const endWork = c.get('endWork')
  const leavePlace = c.get('startWork')()
  const addDecision = () => newDecision(c.get('audit'))
  let own: Call['audit'] | undefined
  return {
    signal: c.get('signal'),
    deadlineAt: Date.now() + TIMEOUT_MS.request,
    requestId: c.get('requestId'),
    traceContext: c.get('traceContext')?.(),
    ...(forwardedHeaders && { forwardedHeaders }),
    ...(caller && { caller }),
    note: (fields) => void Object.assign(c.get('facts'), fields),
    noteRun: (run) => c.set('run', c.get('run') ?? run),
    reportError: (error) => {
      c.error = error
    },
    audit: (facts) => {
      own ??= addDecision()
      own(facts)
    },
    addDecision,
    startWaiting:
      endWork === undefined
        ? leavePlace
        : () => {
            leavePlace()
            endWork()
          },
    ...c.get('followPolicy'),
    countWaits: c.get('countWaits'),
    warnOfOutput: (message) => {
      c.get('headers')['Portico-Output-Warning'] = toHeaderValue(message)
    },
    warn: (message, fields) => c.get('log')('warn', message, { requestId: c.get('requestId'), ...fields }),
  }
}

/** Runs `act` once there is a response, which may still have to be streamed. */
export function whenResponded(c: Context<Env>, act: () => void): void {
  c.get('whenResponded').push(act)
}

/** Runs `act` once the response is complete: now, or after the last chunk of a streamed one. */
export function whenSent(c: Context<Env>, act: () => void): void {
  const sent = c.get('sent')
  if (sent === undefined) act()
  else void sent.then(act)
}

/**
 * What happens to a request before its handler. A step can throw a `ServiceError` to reject the request, or respond to
 * it. It releases what it has acquired with `whenResponded`.
 */
export type RequestStep = (c: Context<Env>) => Response | undefined | Promise<Response | undefined>

/** A request without its body. Hono's context is one; `places.ts` creates one without a context. */
export interface RequestHead {
  req: {
    method: string
    /** Below the base path, still percent-encoded. */
    path: string
    url: string
    header(name: string): string | undefined
  }
}

/** A step that only rejects requests. */
export type RequestCheck = (c: RequestHead) => undefined

/** Sets the request id, also as a response header, and the other variables that every response needs. */
export function requestId(basePath: string, locationBase = basePath): RequestStep {
  return (c) => {
    const id = toRequestId(c.req.header('X-Request-Id'))
    c.set('requestId', id)
    c.set('basePath', basePath)
    c.set('locationBase', locationBase)
    c.set('facts', {})
    c.set('audit', [])
    c.set('headers', { 'X-Request-Id': id, ...NOT_STORED })
  }
}

const ACCEPTED = /^[\w.-]{1,128}$/

/** The client's request id when it consists of safe characters, otherwise a new one. */
export function toRequestId(given: string | undefined): string {
  // V8 keeps a UUID as a tree of 20 parts until something reads all of it, here toLowerCase().
  return given !== undefined && ACCEPTED.test(given) ? given : crypto.randomUUID().toLowerCase()
}

/** Forwards these request headers to workers, as Temporal headers with lower-case names. */
export function forwardHeaders(names: readonly string[]): RequestStep {
  return (c) => {
    const headers = names.flatMap((name): [string, string][] => {
      const value = c.req.header(name)
      return value === undefined ? [] : [[name, value]]
    })
    c.set('forwardedHeaders', Object.fromEntries(headers))
  }
}

/** A decision of the request, as the audit log records it. */
export type Decision = Partial<AuditFacts>

/** Actions that change nothing, and are not recorded with `effects` unless they are denied. */
const READS: ReadonlySet<string> = new Set(['read', 'list', 'query', 'catalog', 'tools', 'validate', 'metrics', 'any'])

// A subscription reads again and again.
const MAX_DECISIONS = 100

/** Adds a decision to the list. Returns the function that adds facts to it. */
export function newDecision(decisions: Decision[]): (facts: Decision) => void {
  if (decisions.length >= MAX_DECISIONS) decisions.splice(0, decisions.length, ...decisions.filter(isEffect))
  const decision: Decision = {}
  decisions.push(decision)
  return (facts) => void Object.assign(decision, facts)
}

/** The changes, and each denial once. Without any: the last read, if there is one. */
export function decided(decisions: readonly Decision[], isReadOnly: boolean): (Decision & { isEffect: boolean })[] {
  const made = decisions.filter(({ action = '' }) => action !== '')
  const effects = made.filter((decision) => isDenied(decision) || (isEffect(decision) && !isReadOnly))
  if (effects.length === 0) return made.slice(-1).map((read) => ({ ...read, isEffect: false }))
  return effects
    .filter((effect, at) => !isDenied(effect) || !effects.slice(at + 1).some((later) => isSame(later, effect)))
    .map((effect) => ({ ...effect, isEffect: true }))
}

function isSame(decision: Decision, other: Decision): boolean {
  return Object.entries(other).every(([name, value]) => Reflect.get(decision, name) === value)
}

export function isDenied({ rule }: Decision): boolean {
  return rule === 'none'
}

/** Whether it is a change or a denial, or is yet to be decided. */
function isEffect(decision: Decision): boolean {
  return isDenied(decision) || !READS.has(verbOf(decision.action ?? ''))
}

/** The verb without the handler, whose name is the client's: `signal` of `signal:approve`. */
export function verbOf(action: string): string {
  return action.split(':', 1)[0] ?? action
}

/** Adds a header to the response to this request, also to an error response. */
export function setHeader(c: Context<Env>, name: string, value: string): void {
  c.get('headers')[name] = value
}

/**
 * Otherwise workerd compresses what has a `Content-Encoding`:
 * https://developers.cloudflare.com/workers/runtime-apis/response/#parameters
 */
const AS_IT_IS = { encodeBody: 'manual' }

/** A response with these headers, and those that were added with `setHeader`. */
export function respond(
  c: Context<Env>,
  body: BodyInit | null,
  status: number,
  headers: Readonly<Record<string, string>>,
): Response {
  return new Response(body, { status, headers: { ...c.get('headers'), ...headers }, ...AS_IT_IS })
}

/**
 * A response with the value as JSON; `undefined` becomes `null`.
 * `JSON.rawJSON` objects in it become exact numbers.
 */
export function jsonResponse(c: Context<Env>, value: unknown, status = 200): Response {
  return respond(c, JSON.stringify(value ?? null), status, { 'Content-Type': 'application/json' })
}

/** Adds the warnings to the body and to the header `Portico-Warning`. Without warnings, returns the body unchanged. */
export function withWarnings<Body extends object>(
  c: Context<Env>,
  body: Body,
  warnings: string[],
): Body & { warnings?: string[] } {
  if (warnings.length === 0) return body
  setHeader(c, 'Portico-Warning', toHeaderValue(warnings.join('; ')))
  return { ...body, warnings }
}

/** A part of the API that will be removed: docs/stability.md. */
export interface Deprecation {
  /** What the log calls it. */
  name: string
  /** A day, such as `2026-01-01`. */
  since: string
  /** The first day on which it may be missing, if that is decided. */
  sunset?: string
}

/** What `announceDeprecation` sets. */
export const DEPRECATION_HEADERS = ['Deprecation', 'Sunset', 'Link'] as const

/** Adds the headers of RFC 9745 and RFC 8594 to the response, and the name to the log line of the request. */
export function announceDeprecation(c: Context<Env>, { name, since, sunset }: Deprecation): void {
  setHeader(c, 'Deprecation', `@${Date.parse(since) / 1000}`)
  if (sunset !== undefined) setHeader(c, 'Sunset', new Date(sunset).toUTCString())
  setHeader(c, 'Link', `<${docsUrl('api.md#deprecated-fields')}>; rel="deprecation"`)
  c.get('facts').deprecated = name
}

/** A response to a request that has no context. */
export function respondWithoutContext(body: string, init: ResponseInit): Response {
  return new Response(body, init)
}

const MAX_HEADER_VALUE = 200

/** The text as a short header value in visible ASCII. */
export function toHeaderValue(text: string): string {
  const ascii = text.replace(/[^\x20-\x7e]/g, '?')
  return ascii.length > MAX_HEADER_VALUE ? `${ascii.slice(0, MAX_HEADER_VALUE - 3)}...` : ascii
}
