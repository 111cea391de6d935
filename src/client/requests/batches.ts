/** The client's batches: docs/api/batches.md. */
import type * as domain from '../../service/model/batch.ts'
import type { CreatedBatch as Created } from '../../service/model/commands.ts'
import type { AsJson } from '../catalog-types.ts'
import type { Connection } from '../connection/connection.ts'
import { newIdempotencyKey, withKey } from '../connection/idempotency-key.ts'
import type { CallOptions } from '../connection/options.ts'
import { filteredPages, type Pages } from '../pages.ts'
import type { RunFilter } from '../responses.ts'
import { pathSegment } from '../target.ts'
import type { ArgumentsAs } from './start-options.ts'

/** Which open runs: those that match all of its conditions. */
export type BatchFilter = Omit<RunFilter, 'closedAfter' | 'closedBefore' | 'open' | 'status' | 'visible'>

export type BatchRequest = { filter: BatchFilter; reason?: string } & (
  | { operation: 'stop' | 'terminate' }
  | ({ operation: 'signal'; signal: string } & ArgumentsAs<readonly unknown[], 'payload'>)
)

export type Batch = AsJson<domain.Batch>
export type ListedBatch = AsJson<domain.ListedBatch>
export type BatchPage = AsJson<domain.BatchPage>
export type CreatedBatch = Omit<Created, 'isRepeated'>

export interface Batches {
  /** `idempotencyKey`: one batch is created for each. Default: a new one for each call. */
  create(request: BatchRequest, options?: CallOptions & { idempotencyKey?: string }): Promise<CreatedBatch>
  get(batchId: string, options?: CallOptions): Promise<Batch>
  list(options?: CallOptions & { pageSize?: number; pageToken?: string }): Pages<ListedBatch, BatchPage>
  /** What it has done remains. */
  stop(batchId: string, request?: CallOptions & { reason?: string }): Promise<{ batchId: string; stopped: boolean }>
}

export function createBatches(connection: Connection): Batches {
  const pathOf = (batchId: string) => `/batches/${pathSegment(batchId, 'a batch')}`
  return {
    create: (body, { idempotencyKey = newIdempotencyKey(), ...options } = {}) =>
      connection.send({ method: 'POST', path: '/batches', body, ...withKey(idempotencyKey) }, options),
    get: (batchId, options) => connection.send({ method: 'GET', path: pathOf(batchId) }, options),
    list: (options = {}) => filteredPages(connection, '/batches', options, 'batches'),
    stop: (batchId, { signal, timeoutMs, ...body } = {}) =>
      connection.send(
        { method: 'POST', path: `${pathOf(batchId)}/stop`, body, isRetryable: true },
        { signal, timeoutMs },
      ),
  }
}
