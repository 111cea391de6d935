import { expect, test } from 'vitest'
import { engineTransport } from '../../../../src/service/runtime/engine-transport.ts'
import { parseConfig } from '../../../../src/shared/config.ts'

const transportOf = (env: Record<string, string>) =>
  engineTransport(
    parseConfig({ SERVICE_CATALOG_ID: 'orders', SERVICE_ALLOW_ANONYMOUS: 'true', ...env }, { binds: false }),
  )

test('engineTransport: the configuration selects the transport', async () => {
  const overHttp = await transportOf({ ENGINE_TRANSPORT: 'http', ENGINE_HTTP_URL: 'http://127.0.0.1:7243' })

  expect([(await transportOf({})).name, overHttp.name]).toEqual(['grpc', 'http'])
})

test('engineTransport: the error of an unreadable certificate names its variable', async () => {
  await expect(transportOf({ ENGINE_TLS_CA: '/nowhere/ca.pem' })).rejects.toMatchObject({
    name: 'ConfigError',
    message: expect.stringContaining('ENGINE_TLS_CA names a file'),
  })
})
