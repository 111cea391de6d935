/** Creates files and folders that several processes need only once. */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { until } from '../../src/cli/dev/servers/until.ts'
import { hasExited } from './process.ts'

// Only a test that hangs takes this long. The lock of a process that has exited does not count.
const MAKE_TIMEOUT_MS = 900_000

const making = new Map<string, Promise<string>>()

/**
 * Returns `path`. If it does not exist, `make` creates it at a temporary path, which is then renamed, so that no
 * process reads an incomplete one. Meanwhile other callers wait, in other processes too.
 */
export function makeOnce(path: string, make: (unfinished: string) => Promise<unknown>): Promise<string> {
  const inThisProcess = making.get(path) ?? makeLocked(path, make).finally(() => making.delete(path))
  making.set(path, inThisProcess)
  return inThisProcess
}

async function makeLocked(path: string, make: (unfinished: string) => Promise<unknown>): Promise<string> {
  const lock = `${path}.lock`
  const isOurs = await until(
    `${path} is made or may be made`,
    async () => (existsSync(path) ? 'made' : (await takeLock(lock)) && 'ours'),
    { timeoutMs: MAKE_TIMEOUT_MS },
  )
  if (isOurs === 'made') return path
  const unfinished = `${path}.${randomUUID().slice(0, 8)}`
  try {
    // Another process may have created it between the two checks.
    if (existsSync(path)) return path
    await make(unfinished)
    await rename(unfinished, path)
    return path
  } finally {
    await rm(unfinished, { recursive: true, force: true })
    await rm(lock, { force: true })
  }
}

/** Creates the lock file. A lock whose process has exited is removed, for the next attempt. */
async function takeLock(lock: string): Promise<boolean> {
  try {
    await writeFile(lock, String(process.pid), { flag: 'wx' })
    return true
  } catch {
    const holder = Number(await readFile(lock, 'utf8').catch(() => ''))
    if (holder > 0 && hasExited(holder)) await rm(lock, { force: true })
    return false
  }
}
