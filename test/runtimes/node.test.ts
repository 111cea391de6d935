import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { describeApi } from '../conformance/api.ts'
import { processOf } from '../support/entries.ts'
import { type RunningProcess, startProcess } from '../support/process.ts'
import { rule } from '../support/rules.ts'
import { until } from '../support/until.ts'

const ENTRY = fileURLToPath(new URL('../../src/runtime/node.ts', import.meta.url))

describeApi('Node', processOf(process.execPath, ENTRY))

rule('config.local-port-is-3001', async () => {
  const server = await startNode({ SERVICE_CATALOG_ID: 'any' })

  await until('the service has tried to listen', () => server.output().includes('3001'))
  await server.kill()

  // The port may be somebody else's just now: then it says so.
  expect(server.output()).toMatch(/http:\/\/127\.0\.0\.1:3001"|^Port 3001 of 127\.0\.0\.1 is taken/m)
})

rule('config.remote-traces-need-credentials', async () => {
  const server = await startNode({ SERVICE_CATALOG_ID: 'any', SERVICE_PORT: '0', SERVICE_TRACE_REMOTE_ON: 'true' })

  const { code } = await server.ended

  expect(code).toBe(1)
  expect(server.output()).toContain('SERVICE_STORAGE_ACCESS_KEY_ID, SERVICE_STORAGE_SECRET_ACCESS_KEY, SERVICE_STORAGE_REGION')
})

function startNode(env: Record<string, string>): Promise<RunningProcess> {
  return startProcess({ command: process.execPath, args: [ENTRY], env })
}
