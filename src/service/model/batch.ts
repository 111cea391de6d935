/** Batches: one operation on many runs, which the engine carries out one after the other. */

import { sha256 } from '../../shared/lib/digest.ts'
import type { RunRef } from '../../shared/wire/run-ref.ts'
import type { Call } from './call.ts'
import { ServiceError } from './errors.ts'

export const BATCH_OPERATIONS = ['signal', 'stop', 'terminate'] as const

export type BatchOperation = (typeof BATCH_OPERATIONS)[number]

/** The engine does not tell a batch that was stopped from one that has failed. */
export const BATCH_STATES = ['running', 'completed', 'failed'] as const

export type BatchState = (typeof BATCH_STATES)[number]

/** With ids of 24 characters, some 22,000 fit into a request to the engine. */
export const MAX_BATCH_RUNS = 10_000

export interface OnBatch {
  batchId: string
}

export interface ListedBatch extends OnBatch {
  operation: BatchOperation
  state: BatchState
  startedAt: Date | null
  closedAt: Date | null
}

export interface Batch extends ListedBatch {
  /** How many runs it was created for. */
  matching: number
  /** How many runs were handled, also if there was nothing to do. Null unless it has completed. */
  processed: number | null
  reason: string
}

export interface BatchPage {
  batches: ListedBatch[]
  nextPageToken: string | null
}

/** A batch that the engine can carry out. */
export interface EngineBatch extends OnBatch {
  operation: BatchOperation
  reason: string
  runs: readonly RunRef[]
  /** Of the operation `signal`. */
  signal: { name: string; args: unknown[] } | null
  /** A hash of the request, which the engine keeps. */
  request: string
}

export interface FoundBatch extends Batch {
  /** As of an `EngineBatch`. */
  request: string | undefined
}

/** Port: the calls of an engine about batches. */
export interface BatchEngine {
  /**
   * Starts one batch, even when the call is retried. Returns the batch that has the id already, maybe because of an
   * earlier attempt; null if there was none. Rejects with `ResourceExhaustedError` while another batch is running.
   */
  startBatch(batch: EngineBatch, call: Call): Promise<FoundBatch | null>

  /** Null for an unknown one. */
  describeBatch(batchId: string, call: Call): Promise<FoundBatch | null>

  /** False if it is not running. */
  stopBatch(batchId: string, reason: string, call: Call): Promise<boolean>

  /** Those that this service has started. `token` is the `nextToken` of the previous page. */
  listBatches(
    page: { size: number; token: string | null },
    call: Call,
  ): Promise<{ batches: ListedBatch[]; nextToken: string | null }>
}

/** The beginning of the ids of the caller's batches. */
export async function batchOwner({ caller }: Call): Promise<string> {
  return `${(await sha256(caller?.id ?? '')).slice(0, 16)}-`
}

export function batchNotFound(batchId: string): ServiceError {
  return new ServiceError('BatchNotFoundError', `Batch ${batchId} not found`, { details: { batchId } })
}
