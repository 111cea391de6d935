import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { ensureBundles } from '../../dev/servers/bundles.ts'
import { bin, DENO_PERMISSIONS } from '../../dev/servers/runtimes.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { describeApi } from '../conformance/api.ts'
import { describeFiles } from '../conformance/files.ts'
import { processOf } from '../support/entries.ts'

const ENTRY = 'src/runtime/deno.ts'

describeApi(
  'Deno',
  async (env) => processOf(bin('deno'), 'run', ...DENO_PERMISSIONS, join(await ensureBundles(), 'deno.js'))(env),
  ['closing-connections'],
)
describeFiles('Deno', () => processOf(bin('deno'), 'task', 'start'))

const env = () => ({
  SERVICE_CATALOG_ID: 'any',
  ENGINE_ADDRESS: inject('engine').address,
})

test('deno task start: the service may read only the files that its variables name', async () => {
  const traces = await mkdtemp(join(tmpdir(), 'portico traces-'))
  const service = await processOf(
    bin('deno'),
    'task',
    'start',
  )({ ...env(), ENGINE_TLS_CA: '', SERVICE_TRACE_LOCAL_DIR: traces })

  // The first to ask may find the engine's client still loading.
  await until('it is ready', async () => (await fetch(`${service.url}/ready`)).ok)
  const allowed = (await commandOf(await childOf(service.pid))).filter((word) => word.startsWith('--allow-'))
  await service.stop()
  await rm(traces, { recursive: true })

  expect(allowed).toEqual([...DENO_PERMISSIONS, `--allow-read=${traces}`])
})

test('deno task start: SIGTERM reaches the service', async () => {
  const service = await processOf(bin('deno'), 'task', 'start')(env())
  const serving = await childOf(service.pid)

  process.kill(service.pid, 'SIGTERM')

  expect((await service.ended).code).toBe(0)
  await expect(commandOf(serving)).rejects.toThrow('ENOENT')
})

async function childOf(pid: number): Promise<number> {
  return Number((await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim())
}

async function commandOf(pid: number): Promise<string[]> {
  return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0')
}

test('Deno Deploy: a token is required even if the host is a loopback address', async () => {
  const starting = processOf(bin('deno'), 'run', ...DENO_PERMISSIONS, ENTRY)({ ...env(), DENO_DEPLOYMENT_ID: 'a1' })

  await expect(starting).rejects.toThrow(
    'SERVICE_API_AUTH_TOKEN or SERVICE_POLICY is required when the service does not bind its own socket',
  )
})
