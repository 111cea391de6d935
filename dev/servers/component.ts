/** How a program that is not an npm dependency is had: from the project's cache, or else in the first way that works. */
import { createHash, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ProcessOptions, startProcess } from './process.ts'

export interface Component {
  /** As a sentence would call it. */
  name: string
  version: string
  /** Checksums and the like: other pins, another place in the cache. */
  pins: string[]
  /** Where each fetching way puts the program, below the folder it is given. */
  program: string
  ways: Way[]
  /** Rejects when a program, found or fetched, is not the one that is wanted. */
  check(program: string): Promise<void>
  /** What to do when no way works. */
  advice: string
}

/** What a way rejects with is its answer in the error that lists them all. */
export type Way = FindingWay | FetchingWay

/** It may be on this machine already. */
export interface FindingWay {
  name: string
  find(): Promise<string>
}

/** It comes from the network, into `folder`. */
export interface FetchingWay {
  name: string
  /** Given up when the folder has not grown for so long. */
  quietMs: number
  fetch(folder: string, signal: AbortSignal): Promise<void>
}

export interface HaveOptions {
  cache?: string
  /** Told what is going on while something is fetched. */
  progress?: (line: string) => void
  signal?: AbortSignal
}

const CACHE = fileURLToPath(new URL('../../.cache/', import.meta.url))

/** The path of the component's program. Rejects with a message that lists each way and what it answered. */
export async function have(
  component: Component,
  { cache = CACHE, progress = toStderr, signal }: HaveOptions = {},
): Promise<string> {
  const cached = join(cache, cacheKey(component))
  const program = join(cached, component.program)
  if (existsSync(program)) return program

  const say = (text: string) => progress(`${component.name} ${component.version}: ${text}`)
  const answers: Answer[] = [{ way: 'the cache', answer: 'not there' }]
  for (const way of component.ways) {
    signal?.throwIfAborted()
    try {
      if ('find' in way) {
        const found = await way.find()
        await component.check(found)
        return found
      }
      await fetchInto(cached, component, way, say, signal)
      return program
    } catch (error) {
      signal?.throwIfAborted()
      answers.push({ way: way.name, answer: messageOf(error) })
    }
  }
  throw new Error(notHad(component, answers))
}

export interface Answer {
  way: string
  answer: string
}

export function notHad(
  { name, version, advice }: Pick<Component, 'name' | 'version' | 'advice'>,
  answers: Answer[],
): string {
  const width = Math.max(...answers.map(({ way }) => way.length))
  const lines = answers.map(
    ({ way, answer }) => `  ${way.padEnd(width)}  ${answer.trim().replaceAll('\n', `\n  ${' '.repeat(width)}  `)}`,
  )
  return [`${name} ${version} could not be had. Tried, in this order:`, ...lines, advice].join('\n')
}

export function cacheKey({ name, version, pins }: Pick<Component, 'name' | 'version' | 'pins'>): string {
  const pinned = createHash('sha256').update(JSON.stringify(pins)).digest('hex').slice(0, 12)
  return `${name.toLowerCase().replace(/[^a-z0-9]+/g, '-')}-${version}-${pinned}`
}

/** Fetches beside the cache and moves it in as a whole: of two processes the first wins, and nobody sees half of it. */
async function fetchInto(
  cached: string,
  component: Component,
  way: FetchingWay,
  say: (text: string) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  const folder = `${cached}.${randomUUID().slice(0, 8)}`
  await mkdir(folder, { recursive: true })
  say(`asking ${way.name}`)
  const watch = watchGrowth(folder, way.quietMs, (size) => say(`${size} MB`))
  try {
    await way.fetch(folder, anyOf(watch.signal, signal))
    await component.check(join(folder, component.program))
    await rename(folder, cached).catch((error: unknown) => {
      if (!existsSync(join(cached, component.program))) throw error
    })
  } finally {
    watch.end()
    await rm(folder, { recursive: true, force: true })
  }
}

const LOOK_EVERY_MS = 1000

/** Aborts its signal when the folder has not grown for `quietMs`. */
function watchGrowth(
  folder: string,
  quietMs: number,
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
    } else if (Date.now() - grewAt > quietMs) {
      controller.abort(new Error(`nothing came for ${quietMs / 1000} s`))
    }
    bytes = now
  }, LOOK_EVERY_MS)
  return { signal: controller.signal, end: () => clearInterval(timer) }
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1e6)
}

async function sizeOf(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  // What is moved or removed while we look counts for nothing.
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

/** What a command that ends by itself printed. Rejects with its last lines when it fails. */
export async function outputOf(options: ProcessOptions, signal?: AbortSignal): Promise<string> {
  signal?.throwIfAborted()
  const running = await startProcess(options)
  const kill = () => void running.kill()
  signal?.addEventListener('abort', kill)
  const { code } = await running.ended
  signal?.removeEventListener('abort', kill)
  signal?.throwIfAborted()
  if (code !== 0) throw new Error(lastLines(running.output()) || `${options.command} ended with ${code}`)
  return running.output()
}

function lastLines(text: string): string {
  return text.trim().split('\n').slice(-4).join('\n')
}

function anyOf(first: AbortSignal, second: AbortSignal | undefined): AbortSignal {
  return second === undefined ? first : AbortSignal.any([first, second])
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function toStderr(line: string): void {
  process.stderr.write(`${line}\n`)
}
