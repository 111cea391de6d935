import { link, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { StorageConfig } from '../../../shared/config/traces.ts'
import type { WorkerTraces } from '../../../shared/config/worker.ts'
import { errorCode } from '../../../shared/lib/error-code.ts'
import { createObjectStore } from '../../../shared/stores/s3/object-store.ts'
import { objectUrl } from '../../../shared/stores/s3/object-url.ts'
import type { TraceTemplates } from '../../../shared/wire/catalog.ts'
import { TRACE_CONTENT_TYPE } from '../../../shared/wire/trace/document.ts'
import { TRACE_TEMPLATE } from '../../../shared/wire/trace/keys.ts'
import { fillTemplate } from '../../../shared/wire/trace/template.ts'
import type { SpanRun } from '../../tracing/span.ts'
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

/** A folder with one file per run. Readers never see a partly written file. */
function folderDestination(directory: string): TraceDestination {
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
        // Unlike a rename, a link fails if the file exists.
        if (version === null) return await link(draft, path).then(() => true, falseIfExists)
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

/** Null if the file does not exist. */
async function versionOf(path: string): Promise<string | null> {
  try {
    const { size, mtimeMs, ino } = await stat(path)
    return `${size}:${mtimeMs}:${ino}`
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw error
  }
}

function falseIfExists(error: unknown): false {
  if (errorCode(error) === 'EEXIST') return false
  throw error
}
