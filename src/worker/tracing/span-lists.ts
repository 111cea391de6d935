import { appendFile, mkdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { KvStoreConfig } from '../../shared/config/traces.ts'
import type { WorkerTraces } from '../../shared/config/worker.ts'
import { errorCode } from '../../shared/lib/error-code.ts'
import { createKvStore } from '../../shared/stores/kv/kv-store.ts'
import type { StoreCall } from '../../shared/stores/store-call.ts'
import { spansFile, spansKey } from '../../shared/wire/trace/keys.ts'
import type { SpanRun } from './span.ts'

/** Holds the spans of each run, in one list per run, until the run is archived. */
export interface SpanLists {
  /** May be repeated after a lost response: duplicate entries are ignored. */
  append(run: SpanRun, entries: readonly string[], call: StoreCall): Promise<void>
  read(run: SpanRun, maxBytes: number, call: StoreCall): Promise<{ values: string[]; complete: boolean }>
  /** Removes the entries in `read` after they were archived. Does nothing if another archiver has removed them. */
  trim(run: SpanRun, read: readonly string[], call: StoreCall): Promise<void>
  close(): Promise<void>
}

/** Null if the worker is configured with neither a key-value store nor a local folder to write to. */
export function spanLists({ remote, local }: WorkerTraces): SpanLists | null {
  if (remote?.kvstore) return listsInKv(remote.kvstore)
  return local?.writes ? listsInFiles(local.directory) : null
}

// Renewed by each append. A run that adds no span for this long loses its spans.
const TTL_MS = 30 * 24 * 60 * 60 * 1000

function listsInKv(config: KvStoreConfig): SpanLists {
  const kv = createKvStore(config)
  const key = ({ namespace, runId }: SpanRun) => spansKey(namespace, runId)
  return {
    append: (run, entries, call) => kv.append(key(run), entries, TTL_MS, call),
    read: (run, maxBytes, call) => kv.readList(key(run), maxBytes, call),
    trim: (run, read, call) => kv.trim(key(run), read, call),
    close: () => kv.close(),
  }
}

function listsInFiles(directory: string): SpanLists {
  const pathOf = ({ runId }: SpanRun) => join(directory, spansFile(runId))
  return {
    async append(run, entries) {
      const path = pathOf(run)
      await mkdir(dirname(path), { recursive: true })
      // In a single write, because several processes append to the file.
      await appendFile(path, entries.map((entry) => `${entry}\n`).join(''))
    },
    async read(run, maxBytes) {
      const values = await linesOf(pathOf(run))
      return { values, complete: Buffer.byteLength(values.join('')) <= maxBytes }
    },
    async trim(run, read) {
      const path = pathOf(run)
      const taken = `${path}.${crypto.randomUUID()}`
      // Entries that are appended meanwhile go to a new file.
      await rename(path, taken).catch(emptyWhenMissing)
      const lines = await linesOf(taken)
      const isThere = read.every((line, index) => line === lines[index])
      const left = isThere ? lines.slice(read.length) : lines
      if (left.length > 0) await appendFile(path, left.map((line) => `${line}\n`).join(''))
      await rm(taken, { force: true })
    },
    close: async () => {},
  }
}

async function linesOf(path: string): Promise<string[]> {
  const text = await readFile(path, 'utf8').catch(emptyWhenMissing)
  return text.split('\n').filter((line) => line !== '')
}

function emptyWhenMissing(error: unknown): string {
  if (errorCode(error) === 'ENOENT') return ''
  throw error
}
