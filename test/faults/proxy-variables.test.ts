/** Variables for HTTP proxies, which hosts set for all of their programs, and the gRPC library obeys. */
import { expect } from 'vitest'
import { freePort } from '../../src/cli/dev/servers/ports.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { FROM_SOURCE, GRPC_RUNTIMES } from '../support/entries.ts'
import { test } from '../support/fixtures.ts'
import { CALLER_HEADERS } from '../support/policy.ts'
import { promisedError } from '../support/promises.ts'

test.for(GRPC_RUNTIMES)(
  'on %s the warning about a proxy without the engine names no_proxy, which helps (failure 13)',
  async (runtime, { engine }) => {
    const env = {
      SERVICE_CATALOG_ID: 'any',
      ENGINE_ADDRESS: engine.address,
      https_proxy: `http://127.0.0.1:${await freePort()}`,
    }
    const service = await FROM_SOURCE[runtime](env)
    await until('it warns', () => service.output().includes('check ENGINE_ADDRESS and ENGINE_TLS, or `no_proxy`'))
    const { status } = await fetch(`${service.url}/workflow/any/status`, { headers: CALLER_HEADERS })
    await service.stop()

    const excepted = await FROM_SOURCE[runtime]({ ...env, no_proxy: '127.0.0.1' })
    await until('it is ready', async () => (await fetch(`${excepted.url}/ready`)).ok)
    await excepted.stop()

    expect([status]).toEqual(promisedError(13, '503'))
    expect(excepted.output()).not.toContain('no_proxy')
  },
)
