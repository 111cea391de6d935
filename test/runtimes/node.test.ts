import { expect, inject, test } from 'vitest'
import { startProcess } from '../../dev/servers/process.ts'
import { SERVICE_ENTRY } from '../../dev/servers/service.ts'
import type { RunningProcess } from '../../src/cli/dev/servers/process.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { describeApi } from '../conformance/api.ts'
import { processOf } from '../support/entries.ts'
import { rule } from '../support/rules.ts'
import { startService } from '../support/service.ts'

describeApi('Node', processOf(process.execPath, SERVICE_ENTRY))

rule('config.local-port-is-3001', async () => {
  const server = await startNode({ SERVICE_CATALOG_ID: 'any' })

  await until('the service has tried to listen', () => server.output().includes('3001'))
  await server.kill()

  // Another process may use the port; then the error names it.
  expect(server.output()).toMatch(/http:\/\/127\.0\.0\.1:3001"|^Port 3001 on 127\.0\.0\.1 is already in use/m)
})

rule('config.remote-traces-need-credentials', async () => {
  const server = await startNode({ SERVICE_CATALOG_ID: 'any', SERVICE_PORT: '0', SERVICE_TRACE_REMOTE_ON: 'true' })

  const { code } = await server.ended

  expect(code).toBe(1)
  expect(server.output()).toContain(
    'SERVICE_STORAGE_ACCESS_KEY_ID, SERVICE_STORAGE_SECRET_ACCESS_KEY, SERVICE_STORAGE_REGION',
  )
})

test('Node: a misspelled variable is a warning at start, with the similar name', async () => {
  const service = await startService({
    address: inject('engine').address,
    catalog: 'any',
    env: { SERVICE_CORS_ORIGIN: 'https://a.example' },
  })

  const warning = await until('it warns', () => service.events.find(({ level }) => level === 'warn'))
  await service.kill()

  expect(warning.message).toBe(
    'SERVICE_CORS_ORIGIN is not a Portico variable and has no effect; did you mean SERVICE_CORS_ORIGINS?',
  )
})

test('Node: a namespace and a catalog that the transport does not support are both reported at start', async () => {
  const env = {
    ENGINE_TRANSPORT: 'http',
    ENGINE_HTTP_URL: 'http://127.0.0.1:1',
    ENGINE_NAMESPACE: 'a/b',
    SERVICE_CATALOG_ID: '..',
  }
  const [http, grpc] = [
    await startNode(env),
    await startNode({ SERVICE_CATALOG_ID: 'any', ENGINE_NAMESPACE: 'münchen' }),
  ]

  expect([await http.ended, await grpc.ended].map(({ code }) => code)).toEqual([1, 1])
  expect(http.output()).toMatch(/2 errors:\n {2}ENGINE_NAMESPACE must not.*\n {2}SERVICE_CATALOG_ID must not/)
  expect(grpc.output()).toContain('ENGINE_NAMESPACE must be printable ASCII')
})

function startNode(env: Record<string, string>): Promise<RunningProcess> {
  return startProcess({ command: process.execPath, args: [SERVICE_ENTRY], env })
}
