/** The worker of `portico dev`, which starts again when a source file changes. */
import { type FSWatcher, watch } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Ended, RunningProcess } from './servers/process.ts'

export interface WatchedWorkerOptions {
  start(): Promise<RunningProcess>
  /** Null: it does not start again. */
  folder: string | null
  graceMs: number
  /** Called when the worker has ended on its own. */
  onEnd(how: Ended): void
  /** Called when it cannot be started again. */
  onError(error: unknown): void
}

export interface WatchedWorker {
  isRunning(): boolean
  stop(): Promise<void>
}

/** Rejects if the worker cannot be started the first time. */
export async function startWatchedWorker(options: WatchedWorkerOptions): Promise<WatchedWorker> {
  const { start, folder, graceMs, onEnd, onError } = options
  let running: RunningProcess | null = null
  let isStopped = false
  let lastRestart = Promise.resolve()

  async function launch(): Promise<void> {
    const program = await start()
    running = program
    void program.ended.then((how) => {
      // Otherwise it was stopped.
      if (running !== program) return
      running = null
      onEnd(how)
    })
  }

  async function halt(): Promise<void> {
    const program = running
    running = null
    await program?.stop(graceMs)
  }

  async function restart(): Promise<void> {
    if (!isStopped) await halt()
    if (!isStopped) await launch()
  }

  const stopWatching =
    folder === null
      ? () => {}
      : await watchSources(folder, () => {
          lastRestart = lastRestart.then(restart).catch(onError)
        })
  await launch().catch((error: unknown) => {
    stopWatching()
    throw error
  })
  return {
    isRunning: () => running !== null,
    async stop() {
      isStopped = true
      stopWatching()
      await lastRestart
      await halt()
    },
  }
}

// Not JSON: a worker may write such files itself, and would start again and again.
const SOURCE = /\.(?:[cm]?[jt]sx?|cs|go|java|kt|php|proto|py|rb|rs)$/

const IS_SKIPPED = /(?:^|[\\/])(?:node_modules|__pycache__|\.[^\\/]*)(?:[\\/]|$)/

// Editors write a file in several steps, and save several files at once.
const SETTLE_MS = 150

/** Calls `onChange` after source files in the folder have changed, except in packages and hidden folders. */
async function watchSources(folder: string, onChange: () => void): Promise<() => void> {
  let timer: NodeJS.Timeout | undefined
  const onEvent = (_: string, name: string | null) => {
    if (name === null || !SOURCE.test(name) || IS_SKIPPED.test(name)) return
    clearTimeout(timer)
    timer = setTimeout(onChange, SETTLE_MS)
  }
  const entries = await readdir(folder, { withFileTypes: true })
  // Each on its own, because the folders of packages have too many files to watch.
  const below = entries.filter((entry) => entry.isDirectory() && !IS_SKIPPED.test(entry.name))
  const watchers: FSWatcher[] = [
    watch(folder, onEvent),
    ...below.map(({ name }) => watch(join(folder, name), { recursive: true }, onEvent)),
  ]
  // A folder that is deleted is not watched any more.
  for (const watcher of watchers) watcher.on('error', () => {})
  return () => {
    clearTimeout(timer)
    for (const watcher of watchers) watcher.close()
  }
}
