import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { StorageConfig } from '../config/traces.ts'
import type { WorkerTraces } from '../config/worker.ts'
import type { TraceTemplates } from '../protocol/catalog.ts'
import { TRACE_CONTENT_TYPE } from '../protocol/trace-document.ts'
import { LOCAL_FILE_TEMPLATE, type RootRun } from '../protocol/trace-keys.ts'
import { fillTemplate } from '../protocol/trace-template.ts'
import { objectUrl } from '../store/object-reader.ts'
import { createObjectStore } from '../store/objects.ts'

/** A place where traces are written, each as a whole. */
export interface TraceTarget {
  /** Null when nothing is there. Rejects when it is larger than `maxBytes`. */
  read(root: RootRun, maxBytes: number, signal: AbortSignal): Promise<string | null>
  write(root: RootRun, text: string, signal: AbortSignal): Promise<void>
}

const OBJECT_KEY_TEMPLATE = `traces/${LOCAL_FILE_TEMPLATE}`

// Of one answer of the object storage, with its repetitions; what it interrupts is tried again by the next sweep.
const STORE_TIMEOUT_MS = 10_000

export function traceTargets({ remote, local }: WorkerTraces): TraceTarget[] {
  return [
    ...(remote === null ? [] : [objectTarget(remote.storage, bucketOf(remote.storage))]),
    ...(local?.writes ? [fileTarget(local.directory)] : []),
  ]
}

/** What the catalog's memo says of this: where the API may look for the traces. */
export function traceTemplates({ remote, local }: WorkerTraces): TraceTemplates {
  if (remote === null && !local?.writes) return false
  return {
    ...(remote !== null && { remote: `${bucketUrl(remote.storage)}${OBJECT_KEY_TEMPLATE}` }),
    ...(local?.writes && { local: join(local.directory, LOCAL_FILE_TEMPLATE) }),
  }
}

function bucketUrl(storage: StorageConfig): string {
  return objectUrl(storage, { bucket: bucketOf(storage), key: 'x' }).slice(0, -1)
}

function bucketOf({ bucket }: StorageConfig): string {
  if (bucket === null) throw new TypeError('Remote tracing needs a bucket')
  return bucket
}

function objectTarget(storage: StorageConfig, bucket: string): TraceTarget {
  const objects = createObjectStore(storage)
  const objectOf = async (root: RootRun) => ({ bucket, key: await fillTemplate(OBJECT_KEY_TEMPLATE, root) })
  const call = (signal: AbortSignal) => ({ signal, deadlineAt: Date.now() + STORE_TIMEOUT_MS })
  return {
    read: async (root, maxBytes, signal) => objects.get(await objectOf(root), maxBytes, call(signal)),
    write: async (root, text, signal) => objects.put(await objectOf(root), Buffer.from(text), TRACE_CONTENT_TYPE, call(signal)),
  }
}

function fileTarget(directory: string): TraceTarget {
  const pathOf = async (root: RootRun) => join(directory, await fillTemplate(LOCAL_FILE_TEMPLATE, root))
  return {
    async read(root, maxBytes) {
      const path = await pathOf(root)
      const { size } = await stat(path).catch(nothingThere)
      if (size === null) return null
      if (size > maxBytes) throw new Error(`The file has more than ${maxBytes} bytes`)
      const file = await open(path)
      return file.readFile('utf8').finally(() => file.close())
    },

    async write(root, text) {
      await mkdir(directory, { recursive: true })
      const path = await pathOf(root)
      const half = join(directory, `.${crypto.randomUUID()}.half`)
      try {
        const file = await open(half, 'wx')
        await file.writeFile(text).finally(() => file.close())
        await rename(half, path)
      } catch (error) {
        await rm(half, { force: true })
        throw error
      }
    },
  }
}

function nothingThere(error: NodeJS.ErrnoException): { size: null } {
  if (error.code === 'ENOENT') return { size: null }
  throw error
}
