import { expect } from 'vitest'
import { startServiceProcess } from '../../dev/servers/service.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { grpcTransport } from '../../src/service/engine/transport/grpc/transport.ts'
import { createPortico } from '../../src/service/portico.ts'
import { parseConfig } from '../../src/shared/config.ts'
import { test } from '../support/fixtures.ts'

test('the line listening names the address, engine, namespace, version and catalog, and who may call', async ({
  engine,
  catalog,
  cleanup,
}) => {
  const rule = { name: 'ci', who: { token: `sha256:${'0a'.repeat(32)}` }, can: ['start'] }
  const env = { SERVICE_POLICY: JSON.stringify({ version: 1, rules: [rule] }) }

  const service = await startServiceProcess({ address: engine.address, catalog, env })
  cleanup.defer(async () => void (await service.kill()))

  expect(service.events.find(({ message }) => message === 'listening')).toEqual({
    time: expect.any(String),
    level: 'info',
    message: 'listening',
    url: expect.stringMatching(/^http:\/\/.+:\d+$/),
    version: packageJson.version,
    engine: engine.address,
    namespace: 'default',
    catalog,
    open: false,
    rules: 1,
    operators: false,
  })
})

test('SERVICE_IDLE_TIMEOUT is a warning on runtimes where it has no effect', async ({ engine, catalog }) => {
  const env = { SERVICE_CATALOG_ID: catalog, SERVICE_ALLOW_ANONYMOUS: 'true', SERVICE_IDLE_TIMEOUT: '130s' }
  const config = parseConfig(env, { binds: false })
  const warningsOn = async (runtime: string) => {
    const warnings: string[] = []
    const transport = grpcTransport({ address: engine.address, apiKey: null, tls: null })
    const log = (_level: string, message: string) => void warnings.push(message)
    await createPortico({ config, transport, log, runtime }).close()
    return warnings
  }

  expect(await warningsOn('node')).toEqual([])
  expect(await warningsOn('bun')).toEqual(['SERVICE_IDLE_TIMEOUT has an effect only on Node, not here (bun)'])
})
