import { join } from 'node:path'
import type { StorageConfig } from '../../config/traces.ts'
import type { WorkerTraces } from '../../config/worker.ts'
import type { TraceTemplates } from '../../protocol/catalog.ts'
import { TRACE_TEMPLATE } from '../../protocol/trace/keys.ts'
import { objectUrl } from '../../store/s3/object-url.ts'
import { bucketDestination } from './bucket-destination.ts'
import { folderDestination } from './folder-destination.ts'
import type { TraceDestination } from './trace-destination.ts'

const OBJECT_TEMPLATE = `traces/${TRACE_TEMPLATE}`

export function traceDestinations({ remote, local }: WorkerTraces): TraceDestination[] {
  return [
    ...(remote === null ? [] : [bucketDestination(remote.storage, bucketOf(remote.storage), OBJECT_TEMPLATE)]),
    ...(local?.writes ? [folderDestination(local.directory)] : []),
  ]
}

/** Where the worker writes traces. The API reads it from the catalog's memo. False if the worker writes none. */
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
