/** Repeats a request while that is safe and worth it. */
import { sleep } from '../../shared/lib/abort.ts'
import { PorticoError } from '../portico-error.ts'
import type { ClientOptions } from './options.ts'
import type { HttpRequest, RequestLimits } from './request.ts'
import { isForeign, isNoResponse, mayHaveTakenEffect, resendDelayMs } from './retry-delay.ts'
import { createSendLimit, type Leave } from './send-limit.ts'

export interface RepeatOptions extends Pick<ClientOptions, 'onRetry'> {
  retryMs: number
  /** Whether there was a connection to the service at any time. */
  isReached(): boolean
}

/** One attempt. */
export type Send<Answer> = (request: HttpRequest, limits: RequestLimits) => Promise<Answer>

/** The attempts that count together: those of a call, or of a stream since it last made progress. */
export interface Series {
  attempts: FailedAttempts
  beganAt: number
}

export function newSeries(): Series {
  return { attempts: createAttempts(), beganAt: Date.now() }
}

/** Both reject with a `PorticoError`, or with the signal's reason. */
export interface Repeat {
  /** The result of `send`. `toRequest` is called for each attempt. */
  untilAnswered<Answer>(
    send: Send<Answer>,
    toRequest: () => HttpRequest,
    limits: RequestLimits,
    series?: Series,
  ): Promise<Answer>
  /** Adds a failed attempt, and waits until the request may be sent again. Rejects if it must not be. */
  pauseAfter(error: PorticoError, request: HttpRequest, limits: RequestLimits, series: Series): Promise<void>
}

export function createRepeat({ retryMs, onRetry, isReached }: RepeatOptions): Repeat {
  const sendLimit = createSendLimit(retryMs)

  async function attempt<Answer>(
    send: Send<Answer>,
    request: HttpRequest,
    limits: RequestLimits,
    leave: Leave | null,
  ): Promise<Answer> {
    if (leave === null) throw notSent(request)
    const sentAt = Date.now()
    let pauseMs = 0
    try {
      const answer = await send(request, limits)
      sendLimit.completed()
      return answer
    } catch (error) {
      if (error instanceof PorticoError && error.error === 'OverloadedError') {
        sendLimit.overloaded(sentAt)
        // Pauses, because other requests would be rejected as well.
        pauseMs = error.retryAfterMs ?? 0
      }
      throw error
    } finally {
      leave(pauseMs)
    }
  }

  /** How long to wait before the next attempt; null if the call ends here. */
  function nextDelayMs(
    error: PorticoError,
    request: HttpRequest,
    attempts: number,
    { beganAt, deadlineAt }: Pick<Series, 'beganAt'> & RequestLimits,
  ): number | null {
    // If nothing has ever responded, the address is probably wrong.
    if (!isReached() && attempts > 1) return null
    const delayMs = resendDelayMs(error, request.isRetryable ?? request.method !== 'POST', attempts)
    // With `retryMs` 0 no request is repeated.
    const patienceMs = request.isWait && retryMs > 0 ? Number.POSITIVE_INFINITY : retryMs
    // While the service is overloaded, a request waits for its turn as long as others get theirs.
    const since = Math.max(beganAt, sendLimit.progressAt())
    const giveUpAt = Math.min(since + patienceMs, deadlineAt)
    return delayMs === null || Date.now() + delayMs > giveUpAt ? null : delayMs
  }

  async function pauseAfter(error: PorticoError, request: HttpRequest, limits: RequestLimits, series: Series) {
    const { attempts, beganAt } = series
    const count = attempts.add(error, request)
    const delayMs = nextDelayMs(error, request, count, { ...limits, beganAt })
    if (delayMs === null) throw attempts.toError()
    onRetry?.({ error, attempts: count, delayMs })
    await sleep(delayMs, limits.signal)
    limits.signal?.throwIfAborted()
  }

  return {
    async untilAnswered(send, toRequest, limits, series = newSeries()) {
      while (true) {
        const leave = await sendLimit.enter(limits, toRequest().waitMs !== undefined)
        const request = toRequest()
        try {
          return await attempt(send, request, limits, leave)
        } catch (error) {
          if (!(error instanceof PorticoError)) throw error
          await pauseAfter(error, request, limits, series)
        }
      }
    },
    pauseAfter,
  }
}

function notSent({ method, path }: HttpRequest): PorticoError {
  const message = `${method} ${path}: not sent; the service is overloaded`
  return new PorticoError('OverloadedError', message, { status: null })
}

/** Collects the failed attempts of one call, and creates the error that the call ends with. */
interface FailedAttempts {
  /** Returns how many have failed. */
  add(error: PorticoError, request: HttpRequest): number
  /**
   * The last error, or the previous one if the last attempt had no time left. It says whether the request may have been
   * carried out.
   */
  toError(): PorticoError
}

function createAttempts(): FailedAttempts {
  let attempts = 0
  let isOpen = false
  let shown: PorticoError
  let remark = ''
  return {
    add(error, { method, isRead = method === 'GET' }) {
      const isLastOpen = !isRead && mayHaveTakenEffect(error)
      isOpen ||= isLastOpen
      attempts++
      remark = ''
      if (attempts > 1 && isNoResponse(error)) remark = `; attempt ${attempts} got no response`
      else shown = error
      // The messages of Portico's own errors already say that.
      if (isLastOpen && (isForeign(error) || isNoResponse(error))) remark += '; it may have been carried out'
      else if (isOpen && !isLastOpen) remark += '; an earlier attempt may have been carried out'
      return attempts
    },
    toError() {
      const facts = { ...shown, attempts, ...(isOpen && { mayHaveTakenEffect: true }) }
      if (remark === '') return Object.assign(shown, facts)
      return new PorticoError(shown.error, `${shown.message.replace(/\.$/, '')}${remark}`, facts, shown.cause)
    },
  }
}
