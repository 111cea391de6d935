/** Files and folders that several processes need and only one of them makes. */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { isGone } from '../../src/cli/dev/servers/process.ts'
import { until } from '../../src/cli/dev/servers/until.ts'

// Only a test that hangs takes this long. The lock of a process that has exited does not count.
const MAKE_TIMEOUT_MS = 900_000

const making = new Map<string, Promise<string>>()

/**
 * Returns `path`. If nothing exists there, `make` creates it at the path that it is given, which is then renamed, so
 * that nobody reads half of it. Meanwhile other callers wait, in other processes too.
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
    // Another process may have made it between the two looks of the probe.
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
    if (holder > 0 && isGone(holder)) await rm(lock, { force: true })
    return false
  }
}
