/** `portico dev`, as the package has it. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { Client, Connection } from '@temporalio/client'
import { expect } from 'vitest'
import { ensureBundles } from '../../dev/servers/bundles.ts'
import { hasExited, startProcess } from '../../dev/servers/process.ts'
import { freePort } from '../../src/cli/dev/servers/ports.ts'
import { exitSignal, type RunningProcess } from '../../src/cli/dev/servers/process.ts'
import { ensureTemporal } from '../../src/cli/dev/servers/temporal.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import type { Environment } from '../../src/shared/config.ts'
import { test as base } from '../support/fixtures.ts'
import { testCatalog } from '../support/test-catalog.ts'

const test = base
  .extend('workerOptions', { scope: 'file' }, () => ({ catalog: testCatalog }))
  .extend(
    'startDev',
    { scope: 'file' },
    ({ engine, folder, cleanup }) =>
      async (args: string[], env: Environment = {}) => {
        const dev = await startProcess({
          command: process.execPath,
          args: [join(await ensureBundles(), 'cli.js'), 'dev', ...args],
          cwd: folder,
          env: { PATH: process.env.PATH, HOME: folder, ENGINE_ADDRESS: engine.address, ...env },
        })
        cleanup.defer(async () => void (await dev.kill()))
        return dev
      },
  )

// Prints its environment, and exits with the code in the file of that name.
const WORKER = `
  import { existsSync, readFileSync } from 'node:fs'
  const names = ['ENGINE_ADDRESS', 'SERVICE_CATALOG_ID', 'TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE']
  console.log(JSON.stringify(names.map((name) => process.env[name])))
  setInterval(() => existsSync('exit now') && process.exit(Number(readFileSync('exit now', 'utf8'))), 50)`

test('portico dev: the worker has the variables that it needs, and its exit with 0 ends the rest', async ({
  startDev,
  engine,
  folder,
  catalog,
  worker: _,
}) => {
  await writeFile(join(folder, 'worker.mjs'), WORKER)
  const port = await freePort()
  const dev = await startDev(['--catalog', catalog, '--port', `${port}`, '--', process.execPath, 'worker.mjs'])
  await ready(dev, port)

  const shown = JSON.stringify([engine.address, catalog, engine.address, 'default'])
  await until('the worker has printed its environment', () => dev.output().includes(`worker │ ${shown}`))
  const request = `portico run echo --input '…' --url http://127.0.0.1:${port}`
  await until('it says how to run a workflow of the catalog', () => dev.output().includes(request))
  await writeFile(join(folder, 'exit now'), '0')

  expect(await dev.ended).toMatchObject({ code: 0 })
  await rm(join(folder, 'exit now'))
  expect(dev.output()).toContain('The worker exited (exit code 0); see its last lines above.')
  expect(programs(dev)).toHaveLength(2)
  expect(programs(dev).filter((pid) => !hasExited(pid))).toEqual([])
})

test.for([
  ['an exit code', 'process.exit(7)', 'exit code 7'],
  ['an error', "throw new Error('boom')", 'exit code 1'],
  ['a signal', "process.kill(process.pid, 'SIGKILL')", 'SIGKILL'],
] as const)(
  'portico dev: a worker that crashes with %s ends nothing',
  async ([_, crash, how], { startDev, folder, catalog }) => {
    const port = await freePort()
    await writeFile(join(folder, 'crash.mjs'), crash)
    const dev = await startDev(['--catalog', catalog, '--port', `${port}`, '--', process.execPath, 'crash.mjs'])

    const said = `The worker exited unexpectedly (${how}); see its last lines above. The API and the engine are still running`
    await until('it says what happened', () => dev.output().includes(said))
    await ready(dev, port)
    await dev.stop(10_000)
  },
)

test('portico dev --watch: a change restarts the worker alone, also after a crash; its own engine keeps the runs', async ({
  startDev,
  folder,
  catalog,
}) => {
  const port = await freePort()
  const file = join(folder, 'lib', 'watched.mjs')
  await mkdir(join(folder, 'lib'), { recursive: true })
  await mkdir(join(folder, 'node_modules'), { recursive: true })
  const write = (text: string) => writeFile(file, `console.log('${text}'); setInterval(() => {}, 60_000)`)
  await write('first')
  const args = ['--watch', '--catalog', catalog, '--port', `${port}`, '--', process.execPath, file]
  const path = `${dirname(await ensureTemporal())}${delimiter}${process.env.PATH}`
  const dev = await startDev(args, { ENGINE_ADDRESS: '', PATH: path })
  const printed = (text: string) => until(`${text} is printed`, () => dev.output().includes(text))
  await printed('worker │ first')
  await ready(dev, port)
  await printed('Temporal        ')
  const [, address = ''] = /^Temporal +(\S+)$/m.exec(dev.output()) ?? []
  const connection = await Connection.connect({ address })
  await new Client({ connection }).workflow.start('kept', { workflowId: 'kept-1', taskQueue: catalog })
  await connection.close()

  await write('second')
  await printed('worker │ second')
  await writeFile(file, 'process.exit(3)')
  await printed('The worker exited unexpectedly (exit code 3); see its last lines above. The API')
  await writeFile(join(folder, 'node_modules', 'ignored.mjs'), '')
  await write('third')
  await printed('worker │ third')

  const [engine, first, api, ...more] = programs(dev)
  expect(more).toHaveLength(3)
  const exited = [engine, first, api, ...more].map((pid) => hasExited(Number(pid)))
  expect(exited).toEqual([false, true, false, true, true, false])
  const status = await fetch(`http://127.0.0.1:${port}/workflow/kept-1/status`)
  expect(await status.json()).toMatchObject({ workflowName: 'kept', status: 'running' })
  expect(dev.output()).not.toContain('exited (exit code')
  await dev.stop(10_000)
  expect(hasExited(Number(more.at(-1)))).toBe(true)
})

test('portico dev: with a policy and without a shared token, it finds the workflows', async ({
  startDev,
  folder,
  catalog,
  worker: _,
}) => {
  await writeFile(join(folder, 'idle.mjs'), 'setInterval(() => {}, 60_000)')
  const rule = { name: 'ci', who: { token: `sha256:${'0'.repeat(64)}` }, can: ['start'] }
  const policy = JSON.stringify({ version: 1, rules: [rule] })
  const args = ['--catalog', catalog, '--port', '0', '--', process.execPath, 'idle.mjs']
  const dev = await startDev(args, { SERVICE_POLICY: policy })

  await until('it says how to run a workflow of the catalog', () => dev.output().includes('portico run echo'))
})

test('portico dev: settings come from .portico.json, too, and a wrong file is reported', async ({
  startDev,
  folder,
}) => {
  await writeFile(join(folder, '.portico.json'), '{"catalog": 7}')

  const dev = await startDev([])

  expect(await dev.ended).toMatchObject({ code: 2 })
  expect(dev.output()).toContain('.portico.json: catalog must be a string')
  await writeFile(join(folder, '.portico.json'), '{}')
})

test('portico dev: a worker that cannot be started is reported', async ({ startDev }) => {
  const dev = await startDev(['--port', '0', '--', 'no-such-worker'])

  expect(await dev.ended).toMatchObject({ code: 1 })
  expect(dev.output()).toContain('no-such-worker cannot be started: ENOENT')
  expect(dev.output()).not.toMatch(/^ +at /m)
})

async function ready(dev: RunningProcess, port: number): Promise<void> {
  const isReady = async () => (await fetch(`http://127.0.0.1:${port}/ready`)).ok
  await until('the API is ready', isReady, { signal: exitSignal(dev, 'portico dev') })
}

function programs(dev: RunningProcess): number[] {
  return [...dev.output().matchAll(/started as process (\d+)/g)].map(([, pid]) => Number(pid))
}
