import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { ensureBundles } from '../../dev/servers/bundles.ts'
import { bin, DENO_PERMISSIONS } from '../../dev/servers/runtimes.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { describeApi } from '../conformance/api.ts'
import { describeFiles } from '../conformance/files.ts'
import { FROM_SOURCE, processOf } from '../support/entries.ts'

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

test('deno task start: the service may read only the files that its variables name (threat 85)', async () => {
  const traces = await mkdtemp(join(tmpdir(), 'portico traces-'))
  const service = await processOf(
    bin('deno'),
    'task',
    'start',
  )({ ...env(), ENGINE_TLS_CA: '', OTEL_EXPORTER_OTLP_CERTIFICATE: '/etc/otel.pem', SERVICE_TRACE_LOCAL_DIR: traces })

  // The first to ask may find the engine's client still loading.
  await until('it is ready', async () => (await fetch(`${service.url}/ready`)).ok)
  const allowed = (await commandOf(await childOf(service.pid))).filter((word) => word.startsWith('--allow-'))
  await service.stop()
  await rm(traces, { recursive: true })

  expect(allowed).toEqual([
    ...DENO_PERMISSIONS,
    '--allow-read=docs/api,docs/errors.md',
    `--allow-read=${traces}`,
    '--allow-read=/etc/otel.pem',
  ])
})

test('deno task start: the service may read the pages with the examples of /openapi.json', async () => {
  const service = await FROM_SOURCE.Deno(env())

  const { status, headers } = await fetch(`${service.url}/openapi.json`)
  await service.stop()

  expect([status, headers.get('content-type')]).toEqual([200, 'application/json'])
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

test('Deno Deploy: a token is required even if the host is a loopback address (threat 43)', async () => {
  const starting = FROM_SOURCE.Deno({ ...env(), DENO_DEPLOYMENT_ID: 'a1' })

  await expect(starting).rejects.toThrow(
    'SERVICE_API_AUTH_TOKEN or SERVICE_POLICY is required when the service does not bind its own socket',
  )
})
