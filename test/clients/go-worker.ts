/** A worker in Go, compiled from sources beside its test and from code of the documents. */
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startProcess } from '../../dev/servers/process.ts'
import { untilPolled } from '../../dev/servers/worker.ts'
import { runCommand } from '../../src/cli/dev/servers/component.ts'
import { test as baseTest } from '../support/fixtures.ts'
import { goEnvironment } from './tools.ts'

/** Compiling the Go SDK for the first time takes minutes on a busy machine. */
export const PATIENT = { timeout: 1_200_000 }

const MODULE = ['./go-worker/go.mod', './go-worker/go.sum']

/** `source` is a file beside this one; `documented` are the texts of further files by name. */
export function testWithGoWorker(source: string, documented: () => Promise<Record<string, string>>) {
  return baseTest.extend(
    'worker',
    { scope: 'file', ...PATIENT },
    async ({ engine, connection, catalog, folder, cleanup }) => {
      const cwd = join(folder, 'go')
      await mkdir(cwd)
      for (const path of [...MODULE, source])
        await cp(fileURLToPath(new URL(path, import.meta.url)), join(cwd, basename(path)))
      for (const [name, text] of Object.entries(await documented())) await writeFile(join(cwd, name), text)
      const env = await goEnvironment()
      await runCommand({ command: 'go', args: ['build', '-o', 'worker', '.'], cwd, env })
      const worker = await startProcess({ command: join(cwd, 'worker'), args: [engine.address, catalog], cwd, env })
      const stop = async () => void (await worker.stop(10_000))
      cleanup.defer(stop)
      await untilPolled(connection, 'default', catalog)
      return { taskQueue: catalog, stop }
    },
  )
}
