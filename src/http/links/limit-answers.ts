import type { Link } from '../../domain/model/link.ts'
import { createCallerLimiter } from '../limit-callers.ts'

// One more every six seconds, after the first ten.
const LIMITS = { perSecond: 10 / 60, burst: 10, rule: 'links' }

/** Limits the answers to each link, per replica: 10 per minute. */
export function createAnswerLimit(now?: () => number): (link: Pick<Link, 'linkId'>) => void {
  const limiter = createCallerLimiter({ countsOpenRequests: false, ...(now && { now }) })
  return ({ linkId }) => void limiter.admit(linkId, LIMITS, 'nothing')
}
