/**
 * Holds requests beyond the limit on requests in flight, and rejects them, before the app handles them:
 * docs/decisions/028-requests-in-flight.md.
 */
import { whenAborted } from '../lib/abort.ts'
import type { RequestCheck, RequestHead } from './context.ts'
import { corsHeaders } from './cors.ts'
import { toProblemBody } from './errors.ts'
import { type InFlightLimit, OVERLOADED } from './limit-in-flight.ts'
import type { Observers } from './observe.ts'
import type { Place } from './place-queue.ts'
import { problemHeaders, toRequestId } from './problem.ts'
import { respondWithoutContext } from './response.ts'

export interface LoadShedder {
  /** Whether `hold` would hold or reject any request. */
  isActive(): boolean
  /**
   * Holds a request until it may be handled. Null if the app has to handle the request now.
   * `url` is absolute, or begins with the path.
   */
  hold(request: ReceivedHead): ShedResponse | HeldRequest | null
  /** Handles a request with the place that it was held for. Without a place, the request may be held here. */
  handle(request: Request, place?: Place): Promise<Response>
  /** How many requests wait. */
  waiting(): number
  /** For the shutdown: rejects the requests that wait, and all that would have to. */
  close(): void
}

export interface HeldRequest {
  /** The place for the request, or the response that rejects it. Null after `giveUp`. */
  outcome: Promise<Place | ShedResponse | null>
  /** Call this when the client has disconnected. Also frees the place. */
  giveUp(): void
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
  /** Handles a request, with the place that it has waited for. */
  handle(request: Request, place?: Place): Promise<Response>
  observers: Observers
  corsOrigins: readonly string[]
  /** The checks that come before a request counts. The app itself rejects a request that fails one of them. */
  checks: readonly RequestCheck[]
  /** The path below the base path, as the app routes it. */
  pathOf(request: { url: string }): string
  /**
   * Whether a request with this path counts. May be true for a path without a route, which gets the same response while
   * the limit is reached.
   */
  isWork(path: string): boolean
}

// Only requests with these methods, and with `Host`, are held here. Others are rare, and their responses differ.
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

  /** Creates the rejection of this request. Null if the app has to handle the request. */
  function rejectionOf({ method, url, header }: ReceivedHead): ((waitedMs: number) => ShedResponse) | null {
    if (!METHODS.has(method) || header('Host') === undefined) return null
    // The rejection of a start with a key has one more header, which the app adds.
    if (header('Idempotency-Key') !== undefined) return null
    const path = pathOf({ url })
    if (!isWork(path) || !passesChecks({ req: { method, path, url, header } })) return null
    return (waitedMs) => {
      count(method, status, waitedMs)
      const id = toRequestId(header('X-Request-Id'))
      return {
        status,
        headers: { 'X-Request-Id': id, ...corsHeaders(corsOrigins, header('Origin')), ...headers },
        body: `${beforeId}${id}${afterId}`,
      }
    }
  }

  function hold(head: ReceivedHead): ShedResponse | HeldRequest | null {
    if (!limit.isReached()) return null
    const reject = rejectionOf(head)
    if (reject === null) return null
    const turn = limit.wait()
    if (turn === null) return reject(0)
    const heldAt = performance.now()
    let hasLeft = false
    let place: Place | null = null

    async function wait(turn: Promise<Place | null>, reject: (waitedMs: number) => ShedResponse) {
      place = await turn
      if (hasLeft) place?.leave()
      if (hasLeft) return null
      return place ?? reject(performance.now() - heldAt)
    }

    return {
      outcome: wait(turn.place, reject),
      giveUp() {
        hasLeft = true
        turn.giveUp()
        place?.leave()
      },
    }
  }

  async function handleHeld(request: Request, { outcome, giveUp }: HeldRequest): Promise<Response> {
    const stop = whenAborted(request.signal, giveUp)
    const settled = await outcome
    stop()
    // The client has disconnected, so the response is not sent.
    if (settled === null) return respondWithoutContext('', { status })
    return isPlace(settled) ? options.handle(request, settled) : respondWithoutContext(settled.body, settled)
  }

  return {
    isActive: limit.isReached,
    hold,
    handle(request, place) {
      if (place !== undefined || !limit.isReached()) return options.handle(request, place)
      const { method, url, headers } = request
      const held = hold({ method, url, header: (name) => headers.get(name) ?? undefined })
      if (held === null) return options.handle(request)
      return isHeld(held) ? handleHeld(request, held) : Promise.resolve(respondWithoutContext(held.body, held))
    },
    waiting: limit.waiting,
    close: limit.close,
  }
}

export function isHeld(held: HeldRequest | ShedResponse): held is HeldRequest {
  return 'outcome' in held
}

export function isPlace(settled: Place | ShedResponse): settled is Place {
  return 'leave' in settled
}

const LOG_EVERY_MS = 1000

/**
 * Counts every rejection in the metrics, and logs one line per second: a line for each would cost more than the
 * rejections.
 */
function countRejections({ log, metrics }: Observers): (method: string, status: number, ms: number) => void {
  let rejected = 0

  function logRejected(): void {
    log('warn', 'requests rejected: SERVICE_MAX_INFLIGHT requests are in flight', { rejected })
    rejected = 0
  }

  return (method, status, ms) => {
    metrics?.requestStarted(method)
    metrics?.requestEnded({ method, route: null, status, ms })
    if (rejected++ > 0) return
    const timer: { unref?(): unknown } = setTimeout(logRejected, LOG_EVERY_MS)
    // The timer must not delay the end of the process. On some runtimes it is a number.
    timer.unref?.()
  }
}
