/** `portico archive` as a process of its own. */
import { fileURLToPath } from 'node:url'
import { startProcess } from '../../dev/servers/process.ts'
import type { RunningProcess } from '../../src/cli/dev/servers/process.ts'

const ENTRY = fileURLToPath(new URL('./fixtures/archiver.ts', import.meta.url))

export async function startArchiver(
  cleanup: AsyncDisposableStack,
  taskQueue: string,
  env: Record<string, string>,
): Promise<RunningProcess> {
  const archiver = await startProcess({
    command: process.execPath,
    args: [ENTRY, taskQueue],
    env: { PATH: process.env.PATH, ...env },
  })
  cleanup.defer(async () => void (await archiver.kill()))
  return archiver
}
