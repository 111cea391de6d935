/** Finds a program that is not an npm dependency: in the cache, or from the first source that works. */
import { createHash, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { deadlineSignal, linkSignals, unlessAborted } from '../../../shared/lib/abort.ts'
import { errorMessage } from '../../../shared/lib/error-message.ts'
import { cacheFolder } from './cache-folder.ts'
import { type ProcessOptions, startProcess } from './process.ts'

export interface Component {
  /** For messages. */
  name: string
  version: string
  /** Checksums, for example. Components with different pins have different folders in the cache. */
  pins: string[]
  /** Path of the program below the folder that a remote source fills. */
  program: string
  /** In the order in which they are tried. */
  sources: Source[]
  /** Rejects if the program is not the right one, for example because of its version. */
  check(program: string, signal: AbortSignal): Promise<void>
  /** What to do if every source fails. */
  advice: string
}

export type Source = LocalSource | RemoteSource

/** A program that may already be installed. */
export interface LocalSource {
  name: string
  find(): Promise<string>
}

/** Downloads the program into `folder`. */
export interface RemoteSource {
  name: string
  /** The download is aborted if the folder has not grown for this time. */
  stallTimeoutMs: number
  fetch(folder: string, signal: AbortSignal): Promise<void>
}

export interface EnsureOptions {
  /** Default: `cacheFolder()`. */
  cache?: string
  /** Called with each line of progress during a download. */
  progress?: (line: string) => void
  signal?: AbortSignal
}

/**
 * Returns the path of the program; downloads it if necessary.
 * Rejects with a message that lists each source and its error.
 */
export async function ensureComponent(
  component: Component,
  { cache = cacheFolder(), progress = toStderr, signal }: EnsureOptions = {},
): Promise<string> {
  const cached = join(cache, cacheKey(component))
  const program = join(cached, component.program)
  if (existsSync(program)) return program

  const report = (message: string) => progress(`${component.name} ${component.version}: ${message}`)
  const failures: FailedSource[] = [{ source: 'the cache', error: 'not found' }]
  for (const source of component.sources) {
    signal?.throwIfAborted()
    try {
      if ('find' in source) {
        const found = await source.find()
        await checked(component, found, signal)
        return found
      }
      await fetchInto(cached, component, source, report, signal)
      return program
    } catch (error) {
      signal?.throwIfAborted()
      failures.push({ source: source.name, error: errorMessage(error) })
    }
  }
  throw new Error(unavailableMessage(component, failures))
}

export interface FailedSource {
  source: string
  error: string
}

function unavailableMessage(
  { name, version, advice }: Pick<Component, 'name' | 'version' | 'advice'>,
  failures: FailedSource[],
): string {
  const width = Math.max(...failures.map(({ source }) => source.length))
  const lines = failures.map(
    ({ source, error }) => `  ${source.padEnd(width)}  ${error.trim().replaceAll('\n', `\n  ${' '.repeat(width)}  `)}`,
  )
  return [`${name} ${version} is not available. Tried in this order:`, ...lines, advice].join('\n')
}

function cacheKey({ name, version, pins }: Pick<Component, 'name' | 'version' | 'pins'>): string {
  const pinned = createHash('sha256').update(JSON.stringify(pins)).digest('hex').slice(0, 12)
  return `${name.toLowerCase().replace(/[^a-z0-9]+/g, '-')}-${version}-${pinned}`
}

/**
 * Downloads into a temporary folder and then renames it, so that the cache never contains an incomplete program. If two
 * processes download the same program, the first one wins.
 */
async function fetchInto(
  cached: string,
  component: Component,
  source: RemoteSource,
  report: (message: string) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  const folder = `${cached}.${randomUUID().slice(0, 8)}`
  await mkdir(folder, { recursive: true })
  report(`downloading with ${source.name}`)
  const watch = watchGrowth(folder, source.stallTimeoutMs, (size) => report(`${size} MB`))
  const linked = linkSignals(...[watch.signal, signal].filter((it) => it !== undefined))
  try {
    await source.fetch(folder, linked.signal)
    await checked(component, join(folder, component.program), signal)
    await rename(folder, cached).catch((error: unknown) => {
      if (!existsSync(join(cached, component.program))) throw error
    })
  } finally {
    watch.end()
    linked.release()
    await rm(folder, { recursive: true, force: true })
  }
}

// Printing a version takes half a second on an idle machine.
const CHECK_TIMEOUT_MS = 30_000

async function checked({ check }: Component, program: string, signal: AbortSignal | undefined): Promise<void> {
  const deadline = deadlineSignal(Date.now() + CHECK_TIMEOUT_MS, ...(signal === undefined ? [] : [signal]))
  try {
    await check(program, deadline.signal)
  } finally {
    deadline.release()
  }
}

const POLL_INTERVAL_MS = 1000

/** Aborts its signal when the folder has not grown for `stallTimeoutMs`. */
function watchGrowth(
  folder: string,
  stallTimeoutMs: number,
  grown: (megabytes: number) => void,
): { signal: AbortSignal; end(): void } {
  const controller = new AbortController()
  let bytes = 0
  let grewAt = Date.now()
  const timer = setInterval(async () => {
    const now = await sizeOf(folder)
    if (now > bytes) {
      grewAt = Date.now()
      if (megabytes(now) > megabytes(bytes)) grown(megabytes(now))
    } else if (Date.now() - grewAt > stallTimeoutMs) {
      controller.abort(new Error(`received no data for ${stallTimeoutMs / 1000} s`))
    }
    bytes = now
  }, POLL_INTERVAL_MS)
  return { signal: controller.signal, end: () => clearInterval(timer) }
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1e6)
}

async function sizeOf(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  // A file may be moved or removed at the same time; it then counts as empty.
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** Runs a command and returns its output. Rejects with the last lines if it fails. */
export async function runCommand(options: ProcessOptions, signal?: AbortSignal): Promise<string> {
  signal?.throwIfAborted()
  const running = await startProcess(options)
  const ending = signal === undefined ? running.ended : unlessAborted(running.ended, signal)
  const { code } = await ending.catch(async (aborted: unknown) => {
    await running.kill()
    throw aborted
  })
  if (code !== 0) throw new Error(lastLines(running.output()) || `${options.command} ended with ${code}`)
  return running.output()
}

function lastLines(output: string): string {
  return output.trim().split('\n').slice(-4).join('\n')
}

function toStderr(line: string): void {
  process.stderr.write(`${line}\n`)
}
