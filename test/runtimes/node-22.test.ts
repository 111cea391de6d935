import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { haveBundles } from '../../dev/servers/bundles.ts'
import { haveNode22 } from '../../dev/servers/components.ts'
import { processOf, type ServedEntry } from '../support/entries.ts'
import { startWorker, type TestWorker } from '../support/worker.ts'

describe('the built bundle on the oldest Node that is promised', () => {
  const taskQueue = 'node-22'
  let service: ServedEntry
  let worker: TestWorker

  beforeAll(async () => {
    const { address } = inject('engine')
    worker = await startWorker({ address, taskQueue })
    const serve = processOf(await haveNode22(), join(await haveBundles(), 'node.js'))
    service = await serve({ ENGINE_ADDRESS: address, SERVICE_CATALOG_ID: taskQueue, SERVICE_PORT: '0' })
  }, 120_000)

  afterAll(async () => {
    await service?.stop()
    await worker?.stop()
  })

  test('Node 22: runs a workflow, its numbers exact', async () => {
    const response = await fetch(`${service.url}/workflow/run`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"workflowName":"hugeNumbers","input":9007199254740993}',
    })

    expect(response.status).toBe(200)
    expect(await response.text()).toContain(
      '"input":9007199254740993,"output":{"id":9007199254740993,"price":0.12345678901234567890',
    )
  })
})
