/**
 * Rejects requests beyond the limit on requests in flight before the app handles them:
 * docs/decisions/028-requests-in-flight.md.
 */
import { corsHeaders } from './cors.ts'
import { toProblemBody } from './errors.ts'
import { type InFlightLimit, OVERLOADED } from './limit-in-flight.ts'
import type { Observers } from './observe.ts'
import { problemHeaders, toRequestId } from './problem.ts'
import { respondWithoutContext } from './response.ts'
import type { Check, RequestHead } from './step.ts'

export interface LoadShedder {
  /** Whether `reject` would reject any request. */
  isActive(): boolean
  /**
   * The response to a request that is rejected because of too many others. Null if the app has to handle the request.
   * `url` is absolute, or begins with the path.
   */
  reject(request: ReceivedHead): ShedResponse | null
  /** The same response to a `Request`. */
  respond(request: Request): Response | null
}

export interface ShedResponse {
  status: number
  headers: Record<string, string>
  body: string
}

export interface ReceivedHead {
  method: string
  url: string
  header(name: string): string | undefined
}

export interface LoadShedderOptions {
  limit: InFlightLimit
  observers: Observers
  corsOrigins: readonly string[]
  /** What the app checks before it counts a request. It rejects a request itself that does not pass them. */
  checks: readonly Check[]
  /** The path below the base path, as the app routes it. */
  pathOf(request: { url: string }): string
  /**
   * Whether a request with this path counts. A path without a route may, too:
   * it gets the same response while the limit is reached.
   */
  isWork(path: string): boolean
}

// HEAD and OPTIONS are rare, and their responses differ. So are requests without `Host`.
const METHODS = new Set(['GET', 'POST', 'PATCH'])

const REQUEST_ID = '{requestId}'

export function createLoadShedder(options: LoadShedderOptions): LoadShedder {
  const { limit, corsOrigins, checks, pathOf, isWork } = options
  const problem = toProblemBody(OVERLOADED, REQUEST_ID)
  const [beforeId = '', afterId = ''] = JSON.stringify(problem).split(REQUEST_ID)
  const { status } = problem
  const headers = { ...problemHeaders(problem), 'Retry-After': String(OVERLOADED.details.retryAfterSeconds) }
  const count = countRejections(options.observers)

  function passesChecks(head: RequestHead): boolean {
    try {
      for (const check of checks) check(head)
      return true
    } catch {
      // The app checks again, and reports the error.
      return false
    }
  }

  function reject({ method, url, header }: ReceivedHead): ShedResponse | null {
    if (!limit.isReached() || !METHODS.has(method) || header('Host') === undefined) return null
    // The response to a start with a key has one more header.
    if (header('Idempotency-Key') !== undefined) return null
    const path = pathOf({ url })
    if (!isWork(path) || !passesChecks({ req: { method, path, url, header } })) return null
    count(method, status)
    const id = toRequestId(header('X-Request-Id'))
    return {
      status,
      headers: { 'X-Request-Id': id, ...corsHeaders(corsOrigins, header('Origin')), ...headers },
      body: `${beforeId}${id}${afterId}`,
    }
  }

  return {
    isActive: limit.isReached,
    reject,
    respond(request) {
      if (!limit.isReached()) return null
      const { method, url, headers } = request
      const shed = reject({ method, url, header: (name) => headers.get(name) ?? undefined })
      return shed === null ? null : respondWithoutContext(shed.body, shed)
    },
  }
}

const LOG_EVERY_MS = 1000

/**
 * Counts every rejection in the metrics. The log gets one line for all within a second of the first:
 * under load a line for each would cost more than the rest.
 */
function countRejections({ log, metrics }: Observers): (method: string, status: number) => void {
  let rejected = 0

  function logRejected(): void {
    log('warn', 'requests rejected: SERVICE_MAX_INFLIGHT requests are in flight', { rejected })
    rejected = 0
  }

  return (method, status) => {
    metrics?.requestStarted(method)
    metrics?.requestEnded({ method, route: null, status, ms: 0 })
    if (rejected++ > 0) return
    const timer: { unref?(): unknown } = setTimeout(logRejected, LOG_EVERY_MS)
    // It must not delay the end of the process. On some runtimes it is a number.
    timer.unref?.()
  }
}
