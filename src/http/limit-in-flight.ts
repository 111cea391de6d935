import type { Context } from 'hono'
import { ServiceError } from '../domain/model/errors.ts'
import { whenAborted } from '../lib/abort.ts'
import { type Env, type RequestStep, whenResponded } from './context.ts'
import type { RequestMetrics } from './observe.ts'
import { createPlaceQueue, type Place, type Turn } from './place-queue.ts'

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
export const OVERLOADED = new ServiceError(
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
