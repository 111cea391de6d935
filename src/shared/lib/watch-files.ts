/** Files that may be replaced while the process runs. */
import { realpath, stat } from 'node:fs/promises'
import { errorCode } from './error-code.ts'

/**
 * Differs from that of another version of the files. Take it before they are read, so that a file that changes
 * meanwhile is read again.
 */
export async function versionOf(paths: readonly string[]): Promise<string> {
  return (await Promise.all(paths.map(versionOfFile))).join()
}

async function versionOfFile(path: string): Promise<string> {
  try {
    const { ino, mtimeMs, size } = await stat(path)
    // Kubernetes replaces a symbolic link, and the new file may have the size and the time of the old one.
    return [await realpath(path), ino, mtimeMs, size].join()
  } catch (error) {
    return fileError(error)
  }
}

/** Deno's error for a missing permission has no code, and its message has the path. */
export function fileError(error: unknown): string {
  return String(errorCode(error) ?? (error instanceof Error ? error.name : 'unknown error'))
}

export interface FilesWatch<T> {
  paths: readonly string[]
  /** The version that was read last. */
  version: string
  /** Reads a new version. Must not reject. */
  read(): Promise<T>
  /** Called with each new version. */
  use(content: T): void
  /** Default: 5 s. */
  everyMs?: number
}

const EVERY_MS = 5000

/** Checks for a new version at intervals, until the returned function is called. Does not keep the process running. */
export function watchFiles<T>({ paths, version, read, use, everyMs = EVERY_MS }: FilesWatch<T>): () => void {
  let last = version
  let isReading = false
  let isStopped = false
  async function check(): Promise<void> {
    // A network file system can take longer than the interval.
    if (isReading) return
    isReading = true
    try {
      const found = await versionOf(paths)
      if (found === last) return
      last = found
      const content = await read()
      if (!isStopped) use(content)
    } finally {
      isReading = false
    }
  }
  const timer = setInterval(() => void check(), everyMs)
  // On Deno the timer is a number. It needs no `unref` there, because `exit` ends the process.
  if (typeof timer === 'object') timer.unref()
  return () => {
    isStopped = true
    clearInterval(timer)
  }
}
