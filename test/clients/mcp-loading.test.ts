import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { startServiceProcess } from '../../dev/servers/service.ts'
import { test } from '../support/fixtures.ts'

const ENTRY = fileURLToPath(new URL('../support/loads-service.ts', import.meta.url))

test('src/service/fronts/mcp is loaded with the first message of its protocol', async ({
  engine,
  catalog,
  cleanup,
  worker: _,
}) => {
  const service = await startServiceProcess({ address: engine.address, catalog, entry: ENTRY })
  cleanup.defer(async () => void (await service.kill()))
  const loaded = () => service.events.flatMap(({ message, module }) => (message === 'loaded' ? [module] : []))

  const others = [
    await fetch(`${service.url}/health`),
    await fetch(`${service.url}/openapi.json`),
    await fetch(`${service.url}/mcp`),
    await post('/workflow/run', { workflowName: 'echo', input: 'here' }),
  ]
  const loadedByOthers = loaded()
  const pinged = await post('/mcp', { jsonrpc: '2.0', id: 1, method: 'ping' })

  expect(others.map(({ status }) => status)).toEqual([200, 200, 405, 200])
  expect(loadedByOthers).toEqual([])
  expect(await pinged.json()).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
  await expect.poll(loaded).toContain('mcp/server.ts')
  await Promise.all(others.map((response) => response.body?.cancel()))

  function post(path: string, body: unknown): Promise<Response> {
    return fetch(`${service.url}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
  }
})
