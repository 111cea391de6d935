/** What `npm run build:binary` makes, started in an empty folder. */
import { mkdir, open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { ensureBundles } from '../../dev/servers/bundles.ts'
import { writeExecutable } from '../../dev/servers/executable.ts'
import { startProcess } from '../../dev/servers/process.ts'
import { freePort } from '../../src/cli/dev/servers/ports.ts'
import { exitSignal, type RunningProcess } from '../../src/cli/dev/servers/process.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { VERSION } from '../../src/version.ts'
import { describeApi } from '../../test/conformance/api.ts'
import { processIn } from '../../test/support/entries.ts'
import { test } from '../../test/support/fixtures.ts'

let executable: string
let emptyFolder: string

test.beforeAll(async ({ folder }) => {
  executable = join(folder, 'portico')
  emptyFolder = join(folder, 'empty')
  await mkdir(emptyFolder)
  await writeExecutable(await ensureBundles(), executable, 'x64')
})

describeApi('the executable', (env) => processIn(emptyFolder, executable)(env), ['dot-segments'])

test('the executable: has the commands', async () => {
  expect(await ended(['--version'])).toEqual([0, VERSION])
  expect(await ended(['token', 'new', '--help'])).toEqual([0, expect.stringContaining('Usage: portico token new')])
})

test('the executable: portico dev starts the service of the same executable', async ({ engine, cleanup }) => {
  const port = await freePort()
  const dev = await start(['dev', '--port', String(port)], emptyFolder, { ENGINE_ADDRESS: engine.address })
  cleanup.defer(async () => void (await dev.kill()))

  await until('it is ready', () => dev.output().includes('has started no worker'), {
    signal: exitSignal(dev, 'portico dev'),
  })

  const health = await fetch(`http://127.0.0.1:${port}/health`)
  expect(await health.json()).toEqual({ status: 'ok' })
})

test('the executable: portico archive, which needs the SDK, says that it requires the package', async () => {
  expect(await ended(['archive'])).toEqual([1, expect.stringContaining('portico archive requires the npm package')])
})

test('the executable: reads neither .env nor bunfig.toml of its folder', async ({ folder }) => {
  await writeFile(join(folder, '.env'), 'SERVICE_PORT=none\n')
  await writeFile(join(folder, 'bunfig.toml'), 'preload = ["./preload.js"]\n')
  await writeFile(join(folder, 'preload.js'), 'console.log("preloaded")\n')

  expect(await ended([], folder)).toEqual([
    1,
    'The configuration has an error:\n  SERVICE_CATALOG_ID is required: the catalog (task queue) of the workers',
  ])
})

test('the executable for arm64: is an ELF file for AArch64', async ({ folder }) => {
  const path = join(folder, 'portico-arm64')
  await writeExecutable(await ensureBundles(), path, 'arm64')

  const file = await open(path)
  const { buffer } = await file.read({ buffer: Buffer.alloc(20), position: 0 })
  await file.close()

  expect(buffer.toString('latin1', 0, 4)).toBe('\x7fELF')
  // e_machine is EM_AARCH64.
  expect(buffer.readUInt16LE(18)).toBe(183)
})

async function ended(args: string[], cwd = emptyFolder): Promise<[code: number | null, output: string]> {
  const program = await start(args, cwd)
  const { code } = await program.ended
  return [code, program.output().trim()]
}

function start(args: string[], cwd: string, env: Record<string, string> = {}): Promise<RunningProcess> {
  return startProcess({ command: executable, args, cwd, env: { HOME: cwd, ...env } })
}
