import type { StorageConfig } from '../../config/traces.ts'
import { TRACE_CONTENT_TYPE } from '../../protocol/trace/document.ts'
import { fillTemplate } from '../../protocol/trace/template.ts'
import { createObjectStore } from '../../store/s3/object-store.ts'
import type { SpanRun } from '../tracing/span.ts'
import type { TraceDestination } from './trace-destination.ts'

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
