/** Limits what each caller may use of this replica. */
import type { Context } from 'hono'
import type { Caller } from '../../../shared/access/caller.ts'
import { ServiceError } from '../../model/errors.ts'
import type { Link } from '../../model/link.ts'
import { type Env, type RequestStep, whenResponded, whenSent } from '../context.ts'
import type { Endpoint } from '../endpoint.ts'
import type { RequestMetrics } from './observe.ts'

type Limits = NonNullable<Caller['limits']>

export interface CallerLimiter {
  /** Counts a request of the caller. If it is over a limit, throws a `TooManyRequestsError` and does not count it. */
  admit(caller: string, limits: Limits, takes: Endpoint['takes']): Admission
}

/** A request that is counted. To call a function again has no effect. */
export interface Admission {
  /** From now on the request only waits. */
  endWork(): void
  /** Counts the request as that many waits instead of one. Throws a `TooManyRequestsError` if those are too many. */
  countWaits(waits: number): void
  /** The response is complete. */
  end(): void
}

export interface CallerLimiterOptions {
  /** False where the end of a request can go unnoticed (workerd): then only rates are limited. */
  countsOpenRequests?: boolean
  metrics?: Pick<RequestMetrics, 'callerLimited'> | null
  /** Milliseconds of a monotonic clock. */
  now?: () => number
}

// With more callers, the idle one whose last request is the oldest is removed. It can send a whole burst again.
const MAX_CALLERS = 10_000

/** What is known of a caller. */
interface Usage {
  /** Requests that it may send now; it can be a fraction. */
  tokens: number
  filledAt: number
  inFlight: number
  waiting: number
}

/** In memory, and shared by everything that serves the same callers. */
export function createCallerLimiter(options: CallerLimiterOptions = {}): CallerLimiter {
  const { countsOpenRequests = true, metrics = null, now = () => performance.now() } = options
  // A Map iterates in the order in which its keys were added: the first caller is the one unused for longest.
  const callers = new Map<string, Usage>()

  function usageOf(caller: string, burst: number): Usage {
    const usage = callers.get(caller) ?? { tokens: burst, filledAt: now(), inFlight: 0, waiting: 0 }
    callers.delete(caller)
    callers.set(caller, usage)
    if (callers.size > MAX_CALLERS) forgetOldestIdle()
    return usage
  }

  function forgetOldestIdle(): void {
    for (const [caller, { inFlight, waiting }] of callers) {
      if (inFlight === 0 && waiting === 0) return void callers.delete(caller)
    }
  }

  function reject(rule: string, what: string, retryAfterSeconds: number): ServiceError {
    metrics?.callerLimited(rule)
    return new ServiceError('TooManyRequestsError', `${what}; nothing was done. Send the request again later.`, {
      details: { retryAfterSeconds },
    })
  }

  return {
    admit(caller, limits, takes) {
      const { perSecond, burst = Math.max(1, perSecond ?? 1), rule } = limits
      const { inFlight = Number.POSITIVE_INFINITY, waits = Number.POSITIVE_INFINITY } = limits
      const usage = usageOf(caller, burst)
      const isWait = countsOpenRequests && takes === 'wait'
      const tooMany = () => reject(rule, 'Too many requests of this caller are waiting', 1)
      const isWork = countsOpenRequests && (takes === 'work' || takes === 'wait')
      if (isWait && usage.waiting >= waits) throw tooMany()
      if (isWork && usage.inFlight >= inFlight) throw reject(rule, 'Too many requests of this caller are in flight', 1)
      if (perSecond !== undefined) {
        refill(usage, perSecond, burst, now())
        const missing = 1 - usage.tokens
        if (missing > 0) {
          throw reject(rule, 'This caller sends too many requests per second', Math.ceil(missing / perSecond))
        }
        usage.tokens--
      }
      return countOpen(usage, { isWork, isWait, maxWaits: waits, tooMany })
    },
  }
}

function refill(usage: Usage, perSecond: number, burst: number, now: number): void {
  usage.tokens = Math.min(burst, usage.tokens + ((now - usage.filledAt) / 1000) * perSecond)
  usage.filledAt = now
}

interface Opened {
  isWork: boolean
  isWait: boolean
  maxWaits: number
  tooMany(): ServiceError
}

function countOpen(usage: Usage, { isWork, isWait, maxWaits, tooMany }: Opened): Admission {
  let isWorking = isWork
  let waits = 0
  if (isWorking) usage.inFlight++
  if (isWait) setWaits(1)

  function setWaits(count: number): void {
    usage.waiting += count - waits
    waits = count
  }

  function endWork(): void {
    if (isWorking) usage.inFlight--
    isWorking = false
  }

  return {
    endWork,
    countWaits(count) {
      // It has ended, or does not count.
      if (waits === 0) return
      if (usage.waiting + count - waits > maxWaits) throw tooMany()
      setWaits(count)
    },
    end() {
      endWork()
      setWaits(0)
    },
  }
}

/** Rejects requests of callers over their limits, before their bodies are read. */
export function limitCallers(limiter: CallerLimiter, takes: Endpoint['takes']): RequestStep {
  return (c) => {
    const caller = c.get('caller')
    if (caller === undefined || caller.limits === null) return
    count(c, limiter.admit(caller.delegatedBy ?? caller.id, caller.limits, takes))
  }
}

function count(c: Context<Env>, { endWork, countWaits, end }: Admission): void {
  c.set('endWork', endWork)
  c.set('countWaits', countWaits)
  whenResponded(c, () => {
    endWork()
    whenSent(c, end)
  })
}

// A burst of ten, and then one every six seconds.
const ANSWERS = { perSecond: 10 / 60, burst: 10, rule: 'links' }

/** Limits the answers to each link: 10 per minute and replica. */
export function createAnswerLimit(): (link: Pick<Link, 'linkId'>) => void {
  const limiter = createCallerLimiter({ countsOpenRequests: false })
  return ({ linkId }) => void limiter.admit(linkId, ANSWERS, 'nothing')
}
