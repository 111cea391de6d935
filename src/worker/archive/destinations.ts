import { link, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { StorageConfig } from '../../config/traces.ts'
import type { WorkerTraces } from '../../config/worker.ts'
import type { TraceTemplates } from '../../protocol/catalog.ts'
import { TRACE_CONTENT_TYPE } from '../../protocol/trace/document.ts'
import { TRACE_TEMPLATE } from '../../protocol/trace/keys.ts'
import { fillTemplate } from '../../protocol/trace/template.ts'
import { createObjectStore } from '../../store/s3/object-store.ts'
import { objectUrl } from '../../store/s3/object-url.ts'
import type { StoreCall } from '../../store/store-call.ts'
import type { SpanRun } from '../tracing/span.ts'

/** A place for archived traces, one document a run. Every verb rejects when the place cannot be used. */
export interface TraceTarget {
  name: string
  has(run: SpanRun, call: StoreCall): Promise<boolean>
  read(run: SpanRun, maxBytes: number, call: StoreCall): Promise<StoredTrace | null>
  /** Writes over that version, or where nothing is stored (null). False when the place holds another version. */
  write(run: SpanRun, text: string, version: string | null, call: StoreCall): Promise<boolean>
  /** Rejects with the reason when the place cannot be used at all. */
  check(call: StoreCall): Promise<void>
}

export interface StoredTrace {
  text: string
  version: string
}

const OBJECT_TEMPLATE = `traces/${TRACE_TEMPLATE}`

export function traceTargets({ remote, local }: WorkerTraces): TraceTarget[] {
  return [
    ...(remote === null ? [] : [objectTarget(remote.storage, bucketOf(remote.storage))]),
    ...(local?.writes ? [fileTarget(local.directory)] : []),
  ]
}

/** For the catalog's memo: where the API finds the traces. */
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

function objectTarget(storage: StorageConfig, bucket: string): TraceTarget {
  const objects = createObjectStore(storage)
  const objectOf = (run: SpanRun) => ({ bucket, key: fillTemplate(OBJECT_TEMPLATE, run) })
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

function fileTarget(directory: string): TraceTarget {
  const pathOf = (run: SpanRun) => join(directory, fillTemplate(TRACE_TEMPLATE, run))
  return {
    name: `folder ${directory}`,
    has: async (run) => (await versionOf(pathOf(run))) !== null,
    async read(run, maxBytes) {
      const path = pathOf(run)
      const version = await versionOf(path)
      if (version === null) return null
      if (Number(version.split(':')[0]) > maxBytes) throw new Error(`The file is larger than ${maxBytes} bytes`)
      return { text: await readFile(path, 'utf8'), version }
    },
    async write(run, text, version) {
      const path = pathOf(run)
      await mkdir(dirname(path), { recursive: true })
      const draft = join(directory, `.${crypto.randomUUID()}.draft`)
      try {
        await writeFile(draft, text, { flag: 'wx' })
        // A link is made only where there is no file yet; a rename replaces one.
        if (version === null) return await link(draft, path).then(() => true, falseWhenThere)
        if ((await versionOf(path)) !== version) return false
        await rename(draft, path)
        return true
      } finally {
        await rm(draft, { force: true })
      }
    },
    check: async () => void (await mkdir(directory, { recursive: true })),
  }
}

/** Null where there is no file. */
async function versionOf(path: string): Promise<string | null> {
  try {
    const { size, mtimeMs, ino } = await stat(path)
    return `${size}:${mtimeMs}:${ino}`
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}

function falseWhenThere(error: unknown): false {
  if (codeOf(error) === 'EEXIST') return false
  throw error
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
