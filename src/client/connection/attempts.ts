/** Collects the failed attempts of one call, and creates the error that the call ends with. */
import { PorticoError } from '../portico-error.ts'
import type { HttpRequest } from './request.ts'
import { isForeign, isNoResponse, mayHaveTakenEffect } from './retry-delay.ts'

export interface FailedAttempts {
  /** Returns how many have failed. */
  add(error: PorticoError, request: HttpRequest): number
  /**
   * The last error, or the previous one if the last attempt had no time left. It says whether the request may have been
   * carried out.
   */
  toError(): PorticoError
}

export function createAttempts(): FailedAttempts {
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
