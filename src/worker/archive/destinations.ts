import { join } from 'node:path'
import type { StorageConfig } from '../../config/traces.ts'
import type { WorkerTraces } from '../../config/worker.ts'
import type { TraceTemplates } from '../../protocol/catalog.ts'
import { TRACE_TEMPLATE } from '../../protocol/trace/keys.ts'
import { objectUrl } from '../../store/s3/object-url.ts'
import type { StoreCall } from '../../store/store-call.ts'
import type { SpanRun } from '../tracing/span.ts'
import { bucketDestination } from './bucket-destination.ts'
import { folderDestination } from './folder-destination.ts'

/** Stores archived traces, one document per run. Every method rejects if the destination cannot be used. */
export interface TraceDestination {
  /** For log messages: `bucket my-traces`, `folder /var/traces`. */
  name: string
  has(run: SpanRun, call: StoreCall): Promise<boolean>
  /** Null if no trace of the run is stored. */
  read(run: SpanRun, maxBytes: number, call: StoreCall): Promise<StoredTrace | null>
  /**
   * Replaces the stored trace of that version, or creates it if `version` is null. Returns false if the stored
   * version is another one.
   */
  write(run: SpanRun, text: string, version: string | null, call: StoreCall): Promise<boolean>
  /** Rejects with the reason if the destination cannot be written to. */
  check(call: StoreCall): Promise<void>
}

export interface StoredTrace {
  text: string
  /** Changes with every write. */
  version: string
}

const OBJECT_TEMPLATE = `traces/${TRACE_TEMPLATE}`

export function traceDestinations({ remote, local }: WorkerTraces): TraceDestination[] {
  return [
    ...(remote === null ? [] : [bucketDestination(remote.storage, bucketOf(remote.storage), OBJECT_TEMPLATE)]),
    ...(local?.writes ? [folderDestination(local.directory)] : []),
  ]
}

/** Tells the API, through the catalog's memo, where the worker's traces are. False if the worker writes none. */
export function traceTemplates({ remote, local }: WorkerTraces): TraceTemplates {
  if (remote === null && !local?.writes) return false
  return {
    ...(remote !== null && { remote: `${bucketUrl(remote.storage)}${OBJECT_TEMPLATE}` }),
    ...(local?.writes && { local: join(local.directory, TRACE_TEMPLATE) }),
  }
}

function bucketUrl(storage: StorageConfig): string {
  return objectUrl(storage, { bucket: bucketOf(storage), key: 'x' }).slice(0, -1)
}

function bucketOf({ bucket }: StorageConfig): string {
  if (bucket === null) throw new TypeError('Remote tracing needs SERVICE_STORAGE_BUCKET')
  return bucket
}
