/** The decisions of an update-with-start, as pure functions: docs/decisions/018-retrying-update-with-start.md. */

import { isOpen } from '../../../../shared/wire/execution.ts'
import { type ErrorFacts, ServiceError } from '../../../model/errors.ts'
import type { RpcError } from '../../transport/transport.ts'
import type { FoundRun } from './find-run.ts'
import { type LatestRun, unknownOutcomeError } from './lost-response.ts'

/** Send start and update again, with the same ids. */
export type Resend = { step: 'resend' }

/**
 * Send the update alone to this run. The run knows the update by its id, so it is not carried out twice. Any other run,
 * such as the next one of the chain, would carry it out again.
 */
export type Poll = { step: 'poll'; runId: string; started: boolean }

export type Throw = { step: 'throw'; error: Error }

export interface LostResponse {
  error: RpcError
  /** The latest run of the workflow id now. */
  latest: LatestRun
  /** A time before the first attempt, by the engine's clock (epoch milliseconds). */
  sentAfter: number
  /** Whether the update may be sent to a run that the request has not started. */
  usesExisting: boolean
  /** The run that has the update; null if none has it, undefined if that is not known. See `needsUpdatedRun`. */
  updated?: Omit<Poll, 'step'> | null | undefined
}

/** Whether only the engine can tell if the latest run, or the one before it, has the update. */
export function needsUpdatedRun<Lost extends LostResponse>(
  lost: Lost,
): lost is Lost & { latest: Exclude<LatestRun, { kind: 'none' }> } {
  const { latest, sentAfter, usesExisting } = lost
  if (latest.kind === 'maybe newer than request') return true
  if (latest.kind !== 'older than request' || !usesExisting) return false
  // It closed before the first attempt or after it: the clocks cannot tell.
  return !isOpen(latest.run.status) && !wasClosed(latest.run, sentAfter)
}

export function stepAfterLostResponse(
  { error, latest, sentAfter, usesExisting, updated }: LostResponse,
  details: ErrorFacts,
): Resend | Poll | Throw {
  switch (latest.kind) {
    case 'none':
      return { step: 'resend' }
    case 'started by request':
      return { step: 'poll', runId: latest.run.runId, started: true }
    case 'older than request': {
      if (updated) return { step: 'poll', ...updated }
      const { runId } = latest.run
      // With `fail` the engine rejects the start again while a run is open, so this run cannot receive the update.
      return wasClosed(latest.run, sentAfter) || !usesExisting || updated === null
        ? { step: 'resend' }
        : { step: 'poll', runId, started: false }
    }
    case 'maybe newer than request':
      if (updated) return { step: 'poll', ...updated }
      return { step: 'throw', error: unknownOutcomeError(details, error) }
  }
}

function wasClosed({ closedAt }: FoundRun, sentAfter: number): boolean {
  return closedAt !== null && closedAt < sentAfter
}

/** The start was carried out or found a run, but that run did not accept the update. */
export interface RejectedUpdate extends Pick<LostResponse, 'error' | 'sentAfter'> {
  /** The latest run of the workflow id now; null if the id has no run. */
  latest: FoundRun | null
  /** Whether the request started that run, or the first run of its chain. */
  started: boolean
}

/** Never sends the start again: it could start a second run. */
export function stepAfterRejection(
  { error, sentAfter, latest, started }: RejectedUpdate,
  details: ErrorFacts,
): Poll | Throw {
  // A run that had ended before the request has nothing to do with it.
  if (latest === null || wasClosed(latest, sentAfter)) return { step: 'throw', error }
  const { runId, status } = latest
  if (isOpen(status)) return { step: 'poll', runId, started }
  const message = `Workflow ${details.workflowId} ended before it received the update; its status is ${status}`
  const facts = { ...details, runId, workflowStatus: status }
  return {
    step: 'throw',
    error: new ServiceError('WorkflowNotRunningError', message, { cause: error, details: facts }),
  }
}
