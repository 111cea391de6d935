/** Sends requests, and repeats them if that is safe. */
import { deadlineSignal, linkSignals, withDeadline } from '../../shared/lib/abort.ts'
import { readEvents, type ServerEvent } from '../../shared/lib/event-stream.ts'
import { wasNotSent } from '../../shared/lib/not-sent.ts'
import { sentOnce } from '../../shared/lib/sent-once.ts'
import { PorticoError } from '../portico-error.ts'
import { pathSegment } from '../target.ts'
import { type ParsedResponse, readAnswer } from './answer.ts'
import { parseWithBigInts, toJson } from './json.ts'
import type { CallOptions, ClientOptions } from './options.ts'
import { createRepeat, type Repeat, type Send, type Series } from './repeat.ts'
import type { HttpRequest, RequestLimits } from './request.ts'
import { isForeign, isNoResponse, noResponse } from './retry-delay.ts'
import { fetchSameOrigin } from './same-origin.ts'
import { createWaitLimit } from './wait-limit.ts'

export interface Connection {
  /**
   * The parsed body of the response. Its shape is not validated.
   * Rejects with a `PorticoError`, or with the signal's reason.
   */
  send<Body>(request: HttpRequest, options?: CallOptions): Promise<Body>
  /** Sends a request that waits; `toRequest` is called for each attempt with the time that it may wait. */
  sendWaiting(toRequest: (waitMs: number) => HttpRequest, limits: RequestLimits): Promise<ParsedResponse>
  /**
   * Opens a stream of events; null if the service has no more events. The stream rejects when its connection is lost,
   * also after `waitMs` of the request without a byte.
   */
  open(toRequest: () => HttpRequest, limits: RequestLimits, series: Series): Promise<AsyncIterable<ServerEvent> | null>
  pauseAfter: Repeat['pauseAfter']
}

// How long the service takes to respond when it does not wait.
const RESPONSE_MS = 5000
// How long a response of a busy service may take on a slow connection.
const TRANSFER_MS = 30_000
// How long the response to a request that does not wait may take, because the service retries calls to the engine.
const WORK_MS = 60_000
const NO_CONTENT = 204
const UNAUTHORIZED = 401
// Next.js keeps responses of `fetch` otherwise. workerd throws if it does not know the option.
const NOT_CACHED: RequestInit = 'cache' in Request.prototype ? { cache: 'no-store' } : {}
// A refused connection fails within this time.
const REFUSED_MS = 500

export function createConnection(options: ClientOptions): Connection {
  const { token, headers: everyHeaders, retryMs = 60_000, maxWaitMs = 25_000, onRetry } = options
  const { fetch = (url, init) => globalThis.fetch(url, init), parse = parseWithBigInts } = options
  const base = baseOf(options)
  // Kept until it is rejected. A promise is not kept, because on workerd requests must not share it.
  let current = typeof token === 'function' ? undefined : checked(token)
  const waitLimit = createWaitLimit(maxWaitMs)
  // Whether there was a connection to the service at any time.
  let isReached = false

  /** Returns what sends the request. Throws if it has no JSON. */
  function toSend({
    method,
    path,
    query = {},
    body,
    headers: ownHeaders,
  }: HttpRequest): (signal: AbortSignal) => Promise<Response> {
    const headers = new Headers({ ...everyHeaders, ...ownHeaders })
    if (current !== undefined) headers.set('Authorization', `Bearer ${current}`)
    if (body !== undefined) headers.set('Content-Type', 'application/json')
    const json = body === undefined ? undefined : toJson(body)
    return async (signal) => {
      // Each call of `fetch` has a body of its own.
      const toInit = () => ({ method, headers, ...sentOnce(method, json), ...NOT_CACHED, signal })
      const response = await fetchSameOrigin(fetch, base + path + toSearch(query), toInit)
      isReached = true
      return response
    }
  }

  async function nextToken(): Promise<string | undefined> {
    return typeof token === 'function' ? checked(await token()) : token
  }

  /** Sends a request again if its token is rejected and there is another one. */
  function renewing<Answer>(send: Send<Answer>): Send<Answer> {
    return async (...request) => {
      current ??= await nextToken()
      const sent = current
      try {
        return await send(...request)
      } catch (error) {
        // The reason of the user's signal can be anything.
        if ((error as Partial<PorticoError> | null)?.status !== UNAUTHORIZED) throw error
        // Another request may have replaced it, or a stream that has ended may have dropped it.
        if (sent === current) current = undefined
        current ??= await nextToken()
        if (sent === current) throw error
        return send(...request)
      }
    }
  }

  async function attempt(
    request: HttpRequest,
    { signal, deadlineAt, timeoutMs }: RequestLimits,
  ): Promise<ParsedResponse> {
    const { method, path, waitMs = WORK_MS } = request
    signal?.throwIfAborted()
    const sendWith = toSend(request)
    const name = `${method} ${path}`
    const sentAt = Date.now()
    const endsAt = Math.min(deadlineAt, sentAt + waitMs + TRANSFER_MS)
    const deadline = deadlineSignal(endsAt, ...(signal ? [signal] : []))
    try {
      return await readAnswer(await sendWith(deadline.signal), name, parse)
    } catch (cause) {
      if (cause instanceof PorticoError) throw cause
      signal?.throwIfAborted()
      if (deadline.signal.aborted && endsAt === deadlineAt) throw noResponse(name, timeoutMs, cause)
      throw lostConnection(name, sentAt, cause)
    } finally {
      deadline.release()
    }
  }

  function lostConnection(name: string, sentAt: number, cause: unknown): PorticoError {
    isReached ||= Date.now() - sentAt > REFUSED_MS || !mayBeRefused(cause)
    return new PorticoError('ConnectionError', `${name}: ${reasonOf(cause)}`, { status: null }, cause)
  }

  async function open(request: HttpRequest, { signal }: RequestLimits) {
    const { method, path, waitMs = WORK_MS } = request
    const name = `${method} ${path}`
    const sendWith = toSend(request)
    const sentToken = current
    const sentAt = Date.now()
    const socket = linkSignals(...(signal ? [signal] : []))
    const close = () => {
      socket.abort()
      socket.release()
    }
    const toFailure = (cause: unknown) => {
      if (cause instanceof PorticoError) return cause
      signal?.throwIfAborted()
      const isSilent = cause instanceof DOMException && cause.name === 'TimeoutError'
      return lostConnection(name, sentAt, isSilent ? new Error(`nothing was received for ${waitMs} ms`) : cause)
    }
    const beforeSilence = <T>(step: Promise<T>) => withDeadline(step, Date.now() + waitMs, socket.signal)

    async function* events(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
      try {
        yield* readEvents(body, parse, beforeSilence)
        throw new Error('the connection was closed')
      } catch (cause) {
        throw toFailure(cause)
      } finally {
        close()
        // The service closes the connection when the token expires.
        if (sentToken === current) current = undefined
      }
    }

    async function respond() {
      const response = await sendWith(socket.signal)
      const { body, status, headers } = response
      if (status === NO_CONTENT) return null
      if (body !== null && /^text\/event-stream/i.test(headers.get('Content-Type') ?? '')) return events(body)
      const { status: unexpected } = await readAnswer(response, name, parse)
      throw new PorticoError('UnexpectedResponseError', `${name}: the response is not a stream`, { status: unexpected })
    }

    try {
      signal?.throwIfAborted()
      const opened = await beforeSilence(respond())
      if (opened === null) close()
      return opened
    } catch (cause) {
      close()
      throw toFailure(cause)
    }
  }

  async function observed(request: HttpRequest, limits: RequestLimits): Promise<ParsedResponse> {
    const sentAt = Date.now()
    try {
      const answer = await attempt(request, limits)
      waitLimit.completed(Date.now() - sentAt)
      return answer
    } catch (error) {
      // The client's own deadline says nothing about the connection.
      if (error instanceof PorticoError && !isNoResponse(error))
        waitLimit[isForeign(error) ? 'cut' : 'completed'](Date.now() - sentAt)
      throw error
    }
  }

  const repeat = createRepeat({ retryMs, onRetry, isReached: () => isReached })

  return {
    async send<Body>(request: HttpRequest, { signal, timeoutMs = Number.POSITIVE_INFINITY }: CallOptions = {}) {
      const limits = { signal, timeoutMs, deadlineAt: Date.now() + timeoutMs }
      return (await repeat.untilAnswered(renewing(observed), () => request, limits)).body as Body
    },
    sendWaiting(toRequest, limits) {
      const nextRequest = () => toRequest(waitLimit.next(limits.deadlineAt - Date.now()))
      // The response comes after the wait.
      return repeat.untilAnswered(renewing(observed), nextRequest, {
        ...limits,
        deadlineAt: limits.deadlineAt + RESPONSE_MS,
      })
    },
    open: (toRequest, limits, series) => repeat.untilAnswered(renewing(open), toRequest, limits, series),
    pauseAfter: repeat.pauseAfter,
  }
}

function checked(token: string | undefined): string | undefined {
  if (token !== undefined && !/^[\x20-\x7e]+$/.test(token)) throw new TypeError('token must be printable ASCII')
  return token
}

/**
 * What every URL begins with. Throws a `TypeError` for an invalid URL. Its message does not contain the URL, which may
 * contain a password.
 */
function baseOf({ url, namespace }: ClientOptions): string {
  const { origin, pathname, href } = new URL(absolute(url) ?? 'data:')
  if (href !== origin + pathname || !/^http/.test(origin))
    throw new TypeError('url must begin with http:// or https://, without user, password, query or fragment')
  const base = href.replace(/\/$/, '')
  return namespace === undefined ? base : `${base}/namespaces/${pathSegment(namespace, 'a namespace')}`
}

/** As `fetch` resolves it: on a page a relative URL is one of the page's host. */
function absolute(given: string): string | null {
  try {
    return new Request(given).url
  } catch {
    return null
  }
}

function toSearch(query: Record<string, unknown>): string {
  const given = Object.entries(query).flatMap(([name, value]) => [value].flat().map((one) => [name, one]))
  const named = given.filter(([, value]) => value !== undefined)
  // It makes strings of the values.
  const search = new URLSearchParams(named as string[][]).toString()
  return search && `?${search}`
}

/**
 * Whether the connection may have been refused. Browsers and workerd do not say what has happened, neither here nor if
 * the service does not allow requests of the page's origin.
 */
function mayBeRefused(error: unknown): boolean {
  return wasNotSent(error) || (error instanceof Error && error.cause === undefined && !('code' in error))
}

/** The message with that of the cause, because the message of Node's `fetch` does not give the reason. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message}: ${reasonOf(error.cause)}` : error.message
}
