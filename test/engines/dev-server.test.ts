/** The engine that tests start for themselves is the one they ask for. */

import { join } from 'node:path'
import { Connection, type WorkflowService } from '@temporalio/client'
import { expect, onTestFinished } from 'vitest'
import { type EngineServerOptions, type RunningEngine, startEngine } from '../../dev/servers/engine.ts'
import { hasExited } from '../../dev/servers/process.ts'
import { freeEnginePorts } from '../../src/cli/dev/servers/engine.ts'
import { freePort, isTaken } from '../../src/cli/dev/servers/ports.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { test } from '../support/fixtures.ts'

test('startEngine: the contents of its file survive a crash, on the same ports', async ({ folder }) => {
  const crashed = await started({ dbFile: join(folder, 'engine.db') })
  await withService(crashed, (service) => service.startWorkflowExecution(startRequest('kept')))

  await crashed.kill()
  const restarted = await crashed.restart()
  onTestFinished(restarted.stop)

  expect(restarted.address).toBe(crashed.address)
  const request = { namespace: 'default', execution: { workflowId: 'kept' } }
  const kept = await withService(restarted, (service) => service.describeWorkflowExecution(request))
  expect(kept).toMatchObject({ workflowExecutionInfo: { type: { name: 'any' } } })
})

test('startEngine: takes search attributes and further namespaces', async () => {
  const engine = await started({ searchAttributes: { Colour: 'Keyword' }, namespaces: ['other'] })

  const response = await fetch(`${engine.httpUrl}/api/v1/namespaces/other/search-attributes`)

  expect(response.status).toBe(200)
  expect(await response.text()).toContain('Colour')
})

test('startEngine: takes dynamic configuration', async () => {
  const engine = await started({ dynamicConfig: { 'limit.blobSize.error': 1000, 'limit.blobSize.warn': 500 } })
  const input = { payloads: [{ data: new Uint8Array(2000) }] }

  const rejected = withService(engine, (service) => service.startWorkflowExecution({ ...startRequest('large'), input }))

  await expect(rejected).rejects.toThrow('Blob data size exceeds limit')
})

test('startEngine: shows its metrics', async () => {
  const engine = await started({})

  const metrics = await (await fetch(engine.metricsUrl)).text()

  expect(metrics).toContain('service_requests')
})

test('startEngine: on a taken port says which', async () => {
  const engine = await started({})
  const port = Number(new URL(engine.httpUrl).port)

  await expect(startEngine({ ports: { http: port } })).rejects.toThrow(`port ${port} is already in use`)
})

test('freeEnginePorts: takes another port when the preferred one is taken', async () => {
  const engine = await started({})
  const grpc = Number(engine.address.split(':')[1])

  const ports = await freeEnginePorts({ grpc })

  expect(ports.grpc).not.toBe(grpc)
})

test('startEngine: shows Temporal’s web UI, on the preferred port if that is free', async () => {
  const ui = await freePort()
  const engine = await started({ withUi: true, ports: await freeEnginePorts({ ui }) })

  const page = await until('the UI responds', async () => (await fetch(`${engine.uiUrl}/`)).text())

  expect(engine.uiUrl).toBe(`http://localhost:${ui}`)
  expect(page).toMatch(/<!doctype html>/i)
})

test('stop: leaves neither a process nor an open port', async () => {
  const engine = await startEngine()

  await engine.stop()

  expect(hasExited(engine.pid)).toBe(true)
  expect(await isTaken(Number(engine.address.split(':')[1]))).toBe(false)
})

async function started(options: EngineServerOptions): Promise<RunningEngine> {
  const engine = await startEngine(options)
  onTestFinished(engine.stop)
  return engine
}

async function withService<T>({ address }: RunningEngine, ask: (service: WorkflowService) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address })
  try {
    return await ask(connection.workflowService)
  } finally {
    await connection.close()
  }
}

function startRequest(workflowId: string) {
  return {
    namespace: 'default',
    requestId: workflowId,
    workflowId,
    workflowType: { name: 'any' },
    taskQueue: { name: 'none' },
  }
}
