import { constants } from 'node:fs'
import { type FileHandle, open, realpath } from 'node:fs/promises'
import { join, resolve, sep } from 'node:path'
import type { Call } from '../domain/call.ts'
import type { TraceSource } from '../domain/trace/trace-source.ts'
import { spansFile, TRACE_TEMPLATE } from '../protocol/trace/keys.ts'
import { fillTemplate } from '../protocol/trace/template.ts'
import { foundSpans, notAvailable, toFoundTrace } from './read-stored-trace.ts'

export interface FileTraceOptions {
  /** Absolute path of the only folder that traces are read from. */
  directory: string
  namespace: string
  maxBytes: number
}

/**
 * Files of workers that share the folder: where the run's catalog says, or by the usual name, since a worker may know the
 * folder by another path. Before a run is archived, its spans wait in a file too.
 */
export function tracesFromFile({ directory, namespace, maxBytes }: FileTraceOptions): TraceSource {
  return {
    name: 'local',
    async find(run, call) {
      const signal = AbortSignal.any([call.signal, AbortSignal.timeout(Math.max(0, call.deadlineAt - Date.now()))])
      const { local } = await run.destinations(call)
      const usual = join(directory, fillTemplate(TRACE_TEMPLATE, { namespace, runId: run.runId }))
      const said = await openInside(directory, local === undefined ? usual : resolve(local))
      const file = said === 'outside' ? await openInside(directory, usual) : said
      if (file === 'outside' || (said === 'outside' && file === null)) {
        throw notAvailable('The destination of the trace is not read: it lies outside SERVICE_TRACE_LOCAL_DIR')
      }
      const text = file === null ? null : await readText(file, maxBytes, signal, call)
      const archived = text === null ? null : toFoundTrace(run, namespace, text)
      const waiting = await openInside(directory, join(directory, spansFile(run.runId)))
      if (waiting === null || waiting === 'outside') return archived
      const lines = (await readText(waiting, maxBytes, signal, call)).split('\n').filter((line) => line !== '')
      const spans = foundSpans(lines, null)
      return archived === null ? spans : { ...archived, entries: [...archived.entries, ...spans.entries] }
    },
  }
}

async function readText(file: FileHandle, maxBytes: number, signal: AbortSignal, call: Call): Promise<string> {
  try {
    return await readWhole(file, maxBytes, signal)
  } catch (error) {
    if (signal.aborted && !call.signal.aborted) throw notAvailable('The file could not be read in time')
    throw error
  } finally {
    await file.close()
  }
}

/** Null when there is no such file. Wherever links lead, what is opened lies in the folder. */
async function openInside(directory: string, path: string): Promise<FileHandle | 'outside' | null> {
  try {
    const [folder, real] = await Promise.all([realpath(directory), realpath(path)])
    if (!real.startsWith(folder + sep)) return 'outside'
    // Not waiting for the other end of a pipe, nor following a link that has come in between.
    return await open(real, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  } catch (error) {
    // Whether a path elsewhere leads to something is not told.
    if (isFault(error) && !resolve(path).startsWith(resolve(directory) + sep)) return 'outside'
    if (isFault(error) && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return null
    if (isFault(error)) throw notAvailable(`The file can't be opened (${error.code})`, error)
    throw error
  }
}

const CHUNK_BYTES = 256 * 1024

async function readWhole(file: FileHandle, maxBytes: number, signal: AbortSignal): Promise<string> {
  if (!(await file.stat()).isFile()) throw notAvailable('What is there is no file')
  const chunks: Buffer[] = []
  for (let bytes = 0; ; ) {
    signal.throwIfAborted()
    const { buffer, bytesRead } = await file.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES)
    if (bytesRead === 0) return Buffer.concat(chunks).toString()
    bytes += bytesRead
    if (bytes > maxBytes) throw notAvailable(`The file has more than ${maxBytes} bytes`)
    chunks.push(buffer.subarray(0, bytesRead))
  }
}

function isFault(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error
}
