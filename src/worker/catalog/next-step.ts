/** What a worker does after an attempt to publish its catalog: a decision without side effects. */

import { errorCode } from '../../lib/error-code.ts'
import { errorMessage } from '../../lib/error-message.ts'
import { GrpcCode } from '../../temporal/grpc-code.ts'
import { type PublicationLog, publicationLog } from './publication-log.ts'
import type { Publication } from './publish-catalog.ts'

export interface KeepRules {
  /** Whether the worker ends if the engine rejects its catalog before it was published once. Later it only warns. */
  onPublishError: 'stop' | 'warn'
  checkEveryMs: number
  /** Logged with every line. */
  fields: { catalog: string; namespace: string }
}

export type Attempt = { published: Publication } | { error: unknown }

export interface KeepState {
  /** The last attempt that succeeded. */
  last: Publication | null
  /** Whether this worker's catalog was published at any time. */
  wasInForce: boolean
  /** Whether the worker may poll. */
  isSettled: boolean
  /** Failed attempts since the last success. */
  failures: number
}

export const START: KeepState = { last: null, wasInForce: false, isSettled: false, failures: 0 }

export type LogLine = PublicationLog | { level: 'info' | 'warn'; message: string; fields?: { failures: number } }

export type Step = { error: Error } | { state: KeepState; log: LogLine[]; waitMs: number }

const FIRST_BACKOFF_MS = 1000
const MAX_BACKOFF_MS = 15_000

export function nextStep(state: KeepState, attempt: Attempt, rules: KeepRules): Step {
  return 'error' in attempt ? afterFailure(state, attempt.error, rules) : afterSuccess(state, attempt.published, rules)
}

function afterSuccess(state: KeepState, published: Publication, { checkEveryMs }: KeepRules): Step {
  const { last, failures } = state
  const recovered: LogLine = { level: 'info', message: 'Catalog checks succeed again', fields: { failures } }
  const change = publicationLog(published, last)
  return {
    state: {
      last: published,
      wasInForce: state.wasInForce || published.state !== 'skipped',
      isSettled: true,
      failures: 0,
    },
    log: [...(failures > 0 ? [recovered] : []), ...(change === null ? [] : [change])],
    waitMs: checkEveryMs,
  }
}

function afterFailure(state: KeepState, error: unknown, { onPublishError, checkEveryMs, fields }: KeepRules): Step {
  const isPermanent = isPermanentError(error)
  const what = state.wasInForce ? 'checked in' : 'published to'
  const message = `Catalog ${fields.catalog} could not be ${what} namespace ${fields.namespace}: ${errorMessage(error)}`
  if (isPermanent && onPublishError === 'stop' && !state.wasInForce) {
    return { error: new Error(message, { cause: error }) }
  }
  const failures = state.failures + 1
  return {
    state: { ...state, failures, isSettled: state.isSettled || isPermanent },
    log: failures === 1 ? [{ level: 'warn', message: `${message}. The worker keeps running and will retry` }] : [],
    waitMs: isPermanent ? checkEveryMs : Math.min(FIRST_BACKOFF_MS * 2 ** (failures - 1), MAX_BACKOFF_MS),
  }
}

const PERMANENT: readonly unknown[] = [GrpcCode.INVALID_ARGUMENT, GrpcCode.PERMISSION_DENIED, GrpcCode.UNAUTHENTICATED]

/**
 * Whether a retry would fail the same way: the catalog is invalid, permission is denied, or the error is a bug and
 * has no gRPC code.
 */
export function isPermanentError(error: unknown): boolean {
  const code = errorCode(error)
  if (typeof code !== 'number') return true
  // RESOURCE_EXHAUSTED is transient except for "received message larger than max".
  if (code === GrpcCode.RESOURCE_EXHAUSTED) return /larger than max/.test(errorMessage(error))
  return PERMANENT.includes(code)
}
