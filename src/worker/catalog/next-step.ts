/** What a worker does after an attempt to publish its catalog: a decision without side effects. */

import { errorCode } from '../../shared/lib/error-code.ts'
import { errorMessage } from '../../shared/lib/error-message.ts'
import { GrpcCode } from '../../shared/temporal/grpc-code.ts'
import type { OtherCatalog, Publication } from './publish-catalog.ts'

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

interface PublicationLog {
  level: 'info' | 'warn'
  message: string
  fields: {
    hash: string
    otherHash?: string | null
    otherVersion?: OtherCatalog['version']
    /** Workflow names that can no longer be started. */
    lost?: string[]
  }
}

/** The log line for what changed since `last`, which is null when the worker starts; null when nothing changed. */
export function publicationLog(now: Publication, last: Publication | null): PublicationLog | null {
  const { hash, other } = now
  const fields = { hash, ...(other && { otherHash: other.hash, otherVersion: other.version }) }
  const info = (message: string): PublicationLog => ({ level: 'info', message, fields })
  const lostNames = (message: string, lost: string[]): PublicationLog =>
    lost.length === 0
      ? info(message)
      : { level: 'warn', message: `${message}: names are lost`, fields: { ...fields, lost } }

  switch (now.state) {
    case 'published':
      if (other !== null) return lostNames("Catalog published, replacing another worker's", other.additionalNames)
      if (last === null) return info('Catalog published')
      return { level: 'warn', message: 'Catalog was missing and has been published again', fields }
    case 'unchanged':
      return last === null ? info('Catalog is already published') : null
    case 'renewed':
      return info('Catalog published again: the worker that had published it is gone')
    case 'skipped':
      if (last?.state === 'skipped' && last.other?.hash === other?.hash) return null
      if (last === null || last.state === 'skipped')
        return info('Catalog not published: new workflows are routed to another version')
      return lostNames("Catalog was replaced by another worker's", other?.missingNames ?? [])
  }
}
