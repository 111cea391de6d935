import { constants } from 'node:fs'
import { type FileHandle, open, realpath } from 'node:fs/promises'
import { join, resolve, sep } from 'node:path'
import { deadlineSignal } from '../../shared/lib/abort.ts'
import { spansFile, TRACE_TEMPLATE } from '../../shared/wire/trace/keys.ts'
import { fillTemplate } from '../../shared/wire/trace/template.ts'
import type { Call } from '../model/call.ts'
import type { FoundTrace, TracedRun, TraceSource } from '../model/trace-source.ts'
import { notAllowed, notAvailable, toFoundSpans, toFoundTrace } from './read-stored-trace.ts'

export interface FileTraceOptions {
  /** Absolute path of the only folder that traces are read from. */
  directory: string
  namespace: string
  /** Whether the service has no other namespace. */
  isOnlyNamespace: boolean
  maxBytes: number
}

/**
 * Reads traces from a folder that workers share: the archived trace of a run, and its spans that are not archived yet.
 */
export function tracesFromFile({ directory, maxBytes, ...own }: FileTraceOptions): TraceSource {
  async function findArchived(run: TracedRun, read: ReadFile, call: Call): Promise<FoundTrace | null> {
    const usual = join(directory, fillTemplate(TRACE_TEMPLATE, { namespace: own.namespace, runId: run.runId }))
    const { local } = await run.destinations(call)
    const opened = await openArchived(directory, local === undefined ? usual : resolve(local), usual)
    if (opened === null) return null
    return { ...toFoundTrace(run, own, await read(opened.file)), localPath: opened.path }
  }

  async function findSpans({ runId }: TracedRun, read: ReadFile): Promise<FoundTrace | null> {
    const file = await openInside(directory, join(directory, spansFile(runId)))
    if (file === null || file === 'outside') return null
    const lines = (await read(file)).split('\n').filter((line) => line !== '')
    return toFoundSpans(lines, null)
  }

  return {
    name: 'local',
    async find(run, call) {
      const deadline = deadlineSignal(call.deadlineAt, call.signal)
      const read: ReadFile = (file) => readFile(file, maxBytes, deadline.signal, call)
      try {
        const archived = await findArchived(run, read, call)
        const spans = await findSpans(run, read)
        if (archived === null || spans === null) return archived ?? spans
        return { ...archived, entries: [...archived.entries, ...spans.entries] }
      } finally {
        deadline.release()
      }
    },
  }
}

type ReadFile = (file: FileHandle) => Promise<string>

/** Opens the destination or, because a worker may use another path to the folder, the `usual` file. */
async function openArchived(directory: string, destination: string, usual: string): Promise<OpenedFile | null> {
  const file = await openInside(directory, destination)
  if (file !== 'outside') return file === null ? null : { file, path: destination }
  const other = await openInside(directory, usual)
  if (other === 'outside' || other === null) throw notAllowed('it is outside SERVICE_TRACE_LOCAL_DIR')
  return { file: other, path: usual }
}

interface OpenedFile {
  file: FileHandle
  path: string
}

/** Opens a file in the folder, wherever links lead. Null if it does not exist. */
async function openInside(directory: string, path: string): Promise<FileHandle | 'outside' | null> {
  try {
    const [folder, real] = await Promise.all([realpath(directory), realpath(path)])
    if (!real.startsWith(folder + sep)) return 'outside'
    // O_NONBLOCK: opening a pipe must not wait for its other end. O_NOFOLLOW: a link may have replaced the file since.
    return await open(real, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  } catch (error) {
    if (!isSystemError(error)) throw error
    // Does not reveal whether a path elsewhere exists.
    if (!resolve(path).startsWith(resolve(directory) + sep)) return 'outside'
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
    throw notAvailable(`The file cannot be opened (${error.code})`, error)
  }
}

async function readFile(file: FileHandle, maxBytes: number, signal: AbortSignal, call: Call): Promise<string> {
  try {
    return await readWhole(file, maxBytes, signal)
  } catch (error) {
    if (signal.aborted && !call.signal.aborted) throw notAvailable('The file could not be read in time')
    throw error
  } finally {
    await file.close()
  }
}

const CHUNK_BYTES = 256 * 1024

async function readWhole(file: FileHandle, maxBytes: number, signal: AbortSignal): Promise<string> {
  if (!(await file.stat()).isFile()) throw notAvailable('The path is not a regular file')
  const chunks: Buffer[] = []
  for (let bytes = 0; ; ) {
    signal.throwIfAborted()
    const { buffer, bytesRead } = await file.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES)
    if (bytesRead === 0) return Buffer.concat(chunks).toString()
    bytes += bytesRead
    if (bytes > maxBytes) throw notAvailable(`The file is larger than ${maxBytes} bytes`)
    chunks.push(buffer.subarray(0, bytesRead))
  }
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error
}
