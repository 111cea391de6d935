/** Sends requests, and repeats them if that is safe. */
import { deadlineSignal, sleep } from '../../lib/abort.ts'
import { sentOnce } from '../../lib/sent-once.ts'
import type { CallOptions, ClientOptions } from '../client.ts'
import { PorticoError } from '../portico-error.ts'
import { type Answer, readAnswer } from './answer.ts'
import { toJson } from './json.ts'
import { isForeign, retryDelayMs } from './retry-delay.ts'
import { createWaitLimit } from './wait-limit.ts'

export interface HttpRequest {
  method: string
  /** Below the URL of the service. */
  path: string
  /** Parameters that are undefined are left out. */
  query?: Record<string, unknown>
  body?: unknown
  headers?: Record<string, string>
  /** Whether it can be sent again although it may have been carried out. */
  isRetryable: boolean
  /** Whether it is sent again until the deadline. Default: only for `retryMs`. */
  isWait?: boolean
  /** How long the service waits before it responds. Default: as long as for the handler of a message. */
  waitMs?: number
}

export interface Connection {
  /**
   * The body of the response, of which the service is trusted.
   * Rejects with a `PorticoError`, or with the signal's reason.
   */
  send<Body>(request: HttpRequest, options?: CallOptions): Promise<Body>
  /** Sends a request that waits; `toRequest` is called for each attempt with the time that it may wait. */
  sendWaiting(toRequest: (waitMs: number) => HttpRequest, limits: Limits): Promise<Answer>
}

export interface Limits {
  signal?: AbortSignal | undefined
  /** Epoch milliseconds. */
  deadlineAt: number
}

// What the service takes to respond when it does not wait.
const RESPONSE_MS = 5000
// What a request and its response may take on a slow connection.
const TRANSFER_MS = 30_000
// The default of SERVICE_MESSAGE_TIMEOUT.
const MESSAGE_TIMEOUT_MS = 60_000

export function connect(options: ClientOptions): Connection {
  const { token, headers: everyHeaders, retryMs = 60_000, maxWaitMs = 25_000 } = options
  const { fetch = (url, init) => globalThis.fetch(url, init) } = options
  const base = baseOf(options.url)
  if (token !== undefined && !/^[\x20-\x7e]+$/.test(token)) throw new TypeError('token must be printable ASCII')
  const waitLimit = createWaitLimit(maxWaitMs)

  async function attempt(request: HttpRequest, { signal, deadlineAt }: Limits): Promise<Answer> {
    const { method, path, query = {}, body, waitMs = MESSAGE_TIMEOUT_MS } = request
    const headers = new Headers({ ...everyHeaders, ...request.headers })
    if (token !== undefined) headers.set('Authorization', `Bearer ${token}`)
    if (body !== undefined) headers.set('Content-Type', 'application/json')
    const init = { method, headers, ...sentOnce(method, body === undefined ? undefined : toJson(body)) }
    const name = `${method} ${path}`
    const endsAt = Math.min(deadlineAt, Date.now() + waitMs + TRANSFER_MS)
    const deadline = deadlineSignal(endsAt, ...(signal ? [signal] : []))
    try {
      const response = await fetch(base + path + toSearch(query), { ...init, signal: deadline.signal })
      return await readAnswer(response, name)
    } catch (cause) {
      if (cause instanceof PorticoError) throw cause
      signal?.throwIfAborted()
      throw new PorticoError('ConnectionError', `${name}: ${reasonOf(cause)}`, { status: null }, cause)
    } finally {
      deadline.release()
    }
  }

  async function observed(request: HttpRequest, limits: Limits): Promise<Answer> {
    const startedAt = Date.now()
    try {
      const answer = await attempt(request, limits)
      waitLimit.completed(Date.now() - startedAt)
      return answer
    } catch (error) {
      if (error instanceof PorticoError) waitLimit[isForeign(error) ? 'cut' : 'completed'](Date.now() - startedAt)
      throw error
    }
  }

  async function repeat(toRequest: () => HttpRequest, limits: Limits): Promise<Answer> {
    const beganAt = Date.now()
    for (let attempts = 0; ; attempts++) {
      const request = toRequest()
      try {
        return await observed(request, limits)
      } catch (error) {
        const delayMs = retryDelayMs(error, request.isRetryable, attempts)
        // With 0 nothing is ever sent again.
        const patienceMs = request.isWait && retryMs > 0 ? Number.POSITIVE_INFINITY : retryMs
        const giveUpAt = Math.min(beganAt + patienceMs, limits.deadlineAt)
        if (delayMs === null || Date.now() + delayMs > giveUpAt) throw error
        await sleep(delayMs, limits.signal)
        limits.signal?.throwIfAborted()
      }
    }
  }

  return {
    async send<Body>(request: HttpRequest, { signal, timeoutMs = Number.POSITIVE_INFINITY }: CallOptions = {}) {
      const deadlineAt = Date.now() + timeoutMs
      try {
        return (await repeat(() => request, { signal, deadlineAt })).body as Body
      } catch (error) {
        if (!(error instanceof PorticoError) || error.status !== null || Date.now() < deadlineAt) throw error
        const message = `${request.method} ${request.path}: no response within ${timeoutMs} ms`
        throw new PorticoError('DeadlineExceededError', message, { status: null }, error)
      }
    },
    sendWaiting(toRequest, { signal, deadlineAt }) {
      const nextRequest = () => toRequest(waitLimit.next(deadlineAt - Date.now()))
      // The response comes after the wait.
      return repeat(nextRequest, { signal, deadlineAt: deadlineAt + RESPONSE_MS })
    },
  }
}

/** Throws a `TypeError` without the URL, which may contain a password. */
function baseOf(given: string): string {
  const { origin, pathname, href } = new URL(absolute(given) ?? 'data:')
  if (href === `${origin}${pathname}` && /^https?:/.test(origin)) return href.replace(/\/$/, '')
  throw new TypeError('url must begin with http:// or https://, without user, password, query or fragment')
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
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return search === '' ? '' : `?${search}`
}

/** With the cause: the message of Node's `fetch` does not say what has happened. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message}: ${reasonOf(error.cause)}` : error.message
}
