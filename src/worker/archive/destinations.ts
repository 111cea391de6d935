import { join } from 'node:path'
import type { StorageConfig } from '../../config/traces.ts'
import type { WorkerTraces } from '../../config/worker.ts'
import type { TraceTemplates } from '../../protocol/catalog.ts'
import { TRACE_CONTENT_TYPE } from '../../protocol/trace/document.ts'
import { TRACE_TEMPLATE } from '../../protocol/trace/keys.ts'
import { fillTemplate } from '../../protocol/trace/template.ts'
import { createObjectStore } from '../../store/s3/object-store.ts'
import { objectUrl } from '../../store/s3/object-url.ts'
import type { SpanRun } from '../tracing/span.ts'
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

/** A bucket of an S3-compatible object store. */
export function bucketDestination(storage: StorageConfig, bucket: string, keyTemplate: string): TraceDestination {
  const objects = createObjectStore(storage)
  const objectOf = (run: SpanRun) => ({ bucket, key: fillTemplate(keyTemplate, run) })
  return {
    name: `bucket ${bucket}`,
    has: (run, call) => objects.exists(objectOf(run), call),
    async read(run, maxBytes, call) {
      const stored = await objects.get(objectOf(run), maxBytes, call)
      return stored === null ? null : { text: stored.text, version: stored.etag }
    },
    write: (run, text, etag, call) =>
      objects.put(objectOf(run), { bytes: Buffer.from(text), contentType: TRACE_CONTENT_TYPE, etag }, call),
    check: (call) => objects.checkBucket(bucket, call),
  }
}
