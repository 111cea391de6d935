/**
 * How many requests are handled at the same time, and what happens with the others:
 * docs/decisions/028-requests-in-flight.md.
 */
import type { Context } from 'hono'
import { whenAborted } from '../../../shared/lib/abort.ts'
import { ServiceError } from '../../model/errors.ts'
import {
  type Env,
  type Place,
  type RequestCheck,
  type RequestHead,
  type RequestStep,
  respondWithoutContext,
  toRequestId,
  whenResponded,
} from '../context.ts'
import { toProblemBody } from '../errors.ts'
import { problemHeaders } from '../problem.ts'
import { corsHeaders } from './cors.ts'
import type { Observers, RequestMetrics } from './observe.ts'

/**
 * How many requests may be in flight. The others wait for a place, and are rejected if none is free in time, before
 * anything was sent to the engine, so that a retry is safe.
 *
 * A request is in flight from the start of its verb until its response is ready, or until the verb calls
 * `startWaiting`. A client that sends its body slowly does not take a place. If all places are taken when a request
 * arrives, its body is not read before its turn.
 */
export interface InFlightLimit {
  /** Whether a request that arrives now has to wait for a place. */
  isReached(): boolean
  /** Null if all places are taken. */
  take(): Place | null
  /** Waits for a place. Null if too many requests wait already. */
  wait(): Turn<Place> | null
  /** How many requests wait. */
  waiting(): number
  /** For the shutdown: rejects the requests that wait, and all that would have to. */
  close(): void
}

// Shared by all rejections: creating an error with its stack would take more time than the rest of a rejection.
const OVERLOADED = new ServiceError(
  'OverloadedError',
  'The service is handling as many requests as it can; nothing was started. Send the request again later.',
  { details: { retryAfterSeconds: 1 } },
)

// If requests work for more than 0.47 s on average, the last of 32 waits for more than 15 s, and would be rejected
// anyway.
const MAX_WAITING_PER_PLACE = 32

export function createInFlightLimit(max: number, metrics: RequestMetrics | null): InFlightLimit {
  let inFlight = 0
  const queue = createPlaceQueue<Place>({
    maxSize: max * MAX_WAITING_PER_PLACE,
    onSizeChange: (by) => metrics?.queuedChanged(by),
  })

  function createPlace(waitedMs: number): Place {
    let isLeft = false
    inFlight++
    metrics?.inFlightChanged(1)
    return {
      waitedMs,
      isLeft: () => isLeft,
      leave() {
        if (isLeft) return
        isLeft = true
        inFlight--
        metrics?.inFlightChanged(-1)
        while (inFlight < max && queue.serveNext(createPlace, inFlight / max));
      },
    }
  }

  return {
    isReached: () => inFlight >= max,
    take: () => (inFlight >= max ? null : createPlace(0)),
    wait: queue.join,
    waiting: queue.size,
    close: queue.close,
  }
}

// How long a request that has waited for a place keeps it until its body has arrived.
const KEPT_FOR_BODY_MS = 100

/** Counts each request once, however many verbs its handler calls. Requests beyond the limit wait, or are rejected. */
export function limitInFlight(limit: InFlightLimit): RequestStep {
  return (c) => {
    const granted = c.env?.place
    if (granted !== undefined) return begin(c, limit, granted)
    if (!limit.isReached()) return begin(c, limit, null)
    return takeTurn(limit, c.req.raw.signal).then((place) => begin(c, limit, place))
  }
}

function begin(c: Context<Env>, limit: InFlightLimit, granted: Place | null): undefined {
  let place = granted
  let isWorking = false
  const leave = () => place?.leave()
  const keeping = granted === null ? undefined : setTimeout(granted.leave, KEPT_FOR_BODY_MS)
  if (granted !== null) c.get('facts').queuedMs = Math.round(granted.waitedMs)

  c.set('takePlace', async () => {
    clearTimeout(keeping)
    if (place === null || place.isLeft()) place = limit.take() ?? (await takeTurn(limit, c.get('signal')))
  })
  c.set('startWork', () => {
    clearTimeout(keeping)
    if (!isWorking && (place === null || place.isLeft())) place = limit.take()
    if (place === null) throw OVERLOADED
    isWorking = true
    return leave
  })
  whenResponded(c, () => {
    clearTimeout(keeping)
    leave()
  })
}

/** Rejects with `OVERLOADED` if the request gets no place in time, or its client leaves. */
async function takeTurn(limit: InFlightLimit, signal: AbortSignal): Promise<Place> {
  const turn = limit.wait()
  if (turn === null) throw OVERLOADED
  const stop = whenAborted(signal, turn.giveUp)
  const place = await turn.place
  stop()
  if (place === null) throw OVERLOADED
  return place
}

export interface PlaceQueue<P> {
  size(): number
  /** Null if the queue is full or closed. */
  join(): Turn<P> | null
  /**
   * Gives `createPlace()` to the request whose turn it is; false if no request gets it. `usedShare` (0 to 1) is the
   * share of the places that are taken.
   */
  serveNext(createPlace: (waitedMs: number) => P, usedShare: number): boolean
  /** Rejects all requests that wait, and all later ones. */
  close(): void
}

export interface Turn<P> {
  /** Null if the request has waited for too long. */
  place: Promise<P | null>
  /** Without effect once `place` is settled. */
  giveUp(): void
}

export interface PlaceQueueOptions {
  maxSize: number
  onSizeChange(by: 1 | -1): void
}

// A burst ends when the queue has neither been empty nor become shorter for this time. With a slow engine, a burst can
// take longer than this: requests keep waiting as long as the queue becomes shorter.
const BURST_MS = 3000

// A queue is shorter if it has at most this share of its longest size. Small changes do not count, because a full queue
// varies by a few requests at any time.
const SHORTER = 0.9

// How long a request waits during a burst. Together with the work, the response arrives before a proxy or client that
// allows 30 s ends the request.
const MAX_WAIT_MS = 15_000

// How long a request waits after a burst, when requests arrive faster than they are handled: longer waits would only
// delay all of them. In a queue that has not been empty for this time, the newest request goes first.
const STANDING_MS = 50

// After a rejection, the queue does not count as empty or shorter for this time.
const RECOVERY_MS = 1000

// A request that newer ones have overtaken gets a place only if no new request has had to wait for CALM_MS, and less
// than this share of the places is taken: the others are kept for new requests, which would overtake it again. In an
// overload, new requests arrive more often, so that a short pause does not accept a request that has waited for 3 s.
const CALM_MS = 100
const SHARE_OF_OVERTAKEN = 0.5

// The minimum time between two sweeps, so that under load requests are rejected in groups, a little late.
const MIN_SWEEP_MS = 5

interface Waiter<P> {
  joinedAt: number
  settle(place: P | null): void
  older: Waiter<P> | null
  newer: Waiter<P> | null
  isWaiting: boolean
}

/**
 * A queue with controlled delay: a request waits for up to 15 s if the queue was empty, or got shorter by a tenth, at
 * some time in the last 3 s, and for up to 50 ms otherwise. For a second after a rejection, neither counts.
 */
export function createPlaceQueue<P>({ maxSize, onSizeChange }: PlaceQueueOptions): PlaceQueue<P> {
  let oldest: Waiter<P> | null = null
  let newest: Waiter<P> | null = null
  let size = 0
  let isClosed = false
  // When the queue was last empty.
  let busySince = 0
  // When the queue was last empty, or got shorter by a tenth.
  let progressAt = 0
  // The longest that the queue has been since then.
  let peak = 0
  // When a request last had to wait.
  let arrivedAt = 0
  let rejectedAt = Number.NEGATIVE_INFINITY
  let sweepTimer: ReturnType<typeof setTimeout> | undefined

  function add(waiter: Waiter<P>): void {
    if (newest === null) oldest = waiter
    else newest.newer = waiter
    newest = waiter
    size++
    peak = Math.max(peak, size)
    onSizeChange(1)
  }

  function remove(waiter: Waiter<P>, place: P | null): void {
    if (waiter.older === null) oldest = waiter.newer
    else waiter.older.newer = waiter.newer
    if (waiter.newer === null) newest = waiter.older
    else waiter.newer.older = waiter.older
    // Unlinked, because a request that then waits minutes for a result would keep all later ones in memory.
    waiter.older = null
    waiter.newer = null
    waiter.isWaiting = false
    size--
    onSizeChange(-1)
    waiter.settle(place)
    // Only requests that get a place are progress.
    if (place === null) peak = size
    if (size > 0) return
    clearTimeout(sweepTimer)
    sweepTimer = undefined
  }

  function patienceAt(now: number): number {
    return now - progressAt < BURST_MS ? MAX_WAIT_MS : STANDING_MS
  }

  /** When the next request may have waited for too long; `first` is the one that has waited longest. */
  function dueAt(first: Waiter<P>, now: number): number {
    const burstEndsAt = progressAt + BURST_MS
    const endsAt = first.joinedAt + patienceAt(now)
    return now < burstEndsAt ? Math.min(burstEndsAt, endsAt) : endsAt
  }

  /** Rejects the requests that have waited for too long. */
  function sweep(): void {
    const now = performance.now()
    const patienceMs = patienceAt(now)
    while (oldest !== null && now - oldest.joinedAt >= patienceMs) {
      rejectedAt = now
      remove(oldest, null)
    }
    if (oldest !== null) sweepTimer = setTimeout(sweep, Math.max(MIN_SWEEP_MS, dueAt(oldest, now) - now))
  }

  return {
    size: () => size,
    join() {
      const joinedAt = performance.now()
      arrivedAt = joinedAt
      if (isClosed || size >= maxSize) return null
      const { promise, resolve } = Promise.withResolvers<P | null>()
      const waiter: Waiter<P> = { joinedAt, settle: resolve, older: newest, newer: null, isWaiting: true }
      if (size === 0) peak = 0
      if (size === 0 && joinedAt - rejectedAt > RECOVERY_MS) busySince = progressAt = joinedAt
      add(waiter)
      sweepTimer ??= setTimeout(sweep, dueAt(waiter, joinedAt) - joinedAt)
      return {
        place: promise,
        giveUp() {
          if (waiter.isWaiting) remove(waiter, null)
        },
      }
    },
    serveNext(createPlace, usedShare) {
      const now = performance.now()
      const isStanding = now - busySince > STANDING_MS
      const next = isStanding ? newest : oldest
      if (next === null) return false
      const waitedMs = now - next.joinedAt
      const isOvertaken = isStanding && waitedMs > STANDING_MS
      const isCalm = now - arrivedAt > CALM_MS && usedShare < SHARE_OF_OVERTAKEN
      // Only a freed place calls this again. If no place is taken, none will be freed, so this one is given away.
      if (isOvertaken && !isCalm && usedShare > 0) return false
      remove(next, createPlace(waitedMs))
      if (size <= peak * SHORTER && now - rejectedAt > RECOVERY_MS) {
        progressAt = now
        peak = size
      }
      return true
    },
    close() {
      isClosed = true
      while (oldest !== null) remove(oldest, null)
    },
  }
}

/** Holds requests beyond the limit, and rejects them, before the app handles them. */
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
const METHODS = new Set(['GET', 'POST', 'PATCH', 'PUT', 'DELETE'])

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
