import { expect, inject, test } from 'vitest'
import { describeApi } from '../conformance/api.ts'
import { describeFiles } from '../conformance/files.ts'
import { bin, DENO_PERMISSIONS, processOf } from '../support/entries.ts'
import { until } from '../support/until.ts'

const ENTRY = 'src/runtime/deno.ts'

describeApi('Deno', processOf(bin('deno'), 'run', ...DENO_PERMISSIONS, ENTRY), ['closing-connections'])
describeFiles('Deno', (folder) => processOf(bin('deno'), 'run', ...DENO_PERMISSIONS, `--allow-read=${folder}`, ENTRY))

const env = () => ({
  PATH: process.env.PATH ?? '',
  HOME: process.env.HOME ?? '',
  SERVICE_CATALOG_ID: 'any',
  SERVICE_PORT: '0',
  ENGINE_ADDRESS: inject('engine').address,
})

test.for(['start', 'start:files'])('deno task %s: starts the service', async (task) => {
  const service = await processOf(bin('deno'), 'task', task)(env())

  // The first to ask may find the engine's client still loading.
  await until('it is ready', async () => (await fetch(`${service.url}/ready`)).ok, { timeoutMs: 3000 })
  await service.stop()
})

test('Deno Deploy: loopback says nothing there, so a token is asked for', async () => {
  const starting = processOf(bin('deno'), 'run', ...DENO_PERMISSIONS, ENTRY)({ ...env(), DENO_DEPLOYMENT_ID: 'a1' })

  await expect(starting).rejects.toThrow('SERVICE_API_AUTH_TOKEN is required, for this entry cannot tell who reaches it')
})
