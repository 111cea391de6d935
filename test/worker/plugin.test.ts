import { NativeConnection, Worker } from '@temporalio/worker'
import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import { defineCatalog } from '../../src/worker/define-catalog.ts'
import { porticoPlugin } from '../../src/worker/plugin.ts'
import * as activities from '../support/activities.ts'
import { quietRuntime } from '../support/worker.ts'

const CATALOG = defineCatalog({ echo: { description: 'Says it again' } })

let connection: NativeConnection

beforeEach(async () => {
  quietRuntime()
  connection = await NativeConnection.connect({ address: inject('engine').address })
})

// Closing fails while a worker holds the connection.
afterEach(() => connection.close())

test('porticoPlugin: publishes the catalog of the task queue of a worker built by hand when it runs', async () => {
  const taskQueue = aCatalog()
  const ready = Promise.withResolvers<void>()
  const plugin = porticoPlugin({ catalog: CATALOG, onReady: () => ready.resolve() })
  const worker = await Worker.create({ connection, taskQueue, activities, plugins: [plugin] })
  expect(await published(taskQueue)).toBe(false)

  await worker.runUntil(ready.promise)

  expect(await published(taskQueue)).toBe(true)
})

test('porticoPlugin: a worker can be shut down while its catalog is being published', async () => {
  const worker = await Worker.create({
    connection,
    taskQueue: aCatalog(),
    activities,
    plugins: [porticoPlugin({ catalog: CATALOG })],
  })

  await worker.runUntil(async () => {})

  expect(worker.getState()).toBe('STOPPED')
})

test('porticoPlugin: a catalog that the engine refuses ends the worker with the reason', async () => {
  const taskQueue = aCatalog()
  const huge = { ...CATALOG, workflows: CATALOG.workflows.map((workflow) => ({ ...workflow, description: 'x'.repeat(3 << 20) })) }
  const worker = await Worker.create({ connection, taskQueue, activities, plugins: [porticoPlugin({ catalog: huge })] })

  await expect(worker.run()).rejects.toThrow(`Catalog ${taskQueue} can't be published to namespace default`)

  expect(worker.getState()).toBe('STOPPED')
  expect(await published(taskQueue)).toBe(false)
})

function aCatalog(): string {
  return `plugin-${crypto.randomUUID()}`
}

async function published(catalog: string): Promise<boolean> {
  const describe = connection.workflowService.describeWorkflowExecution({
    namespace: 'default',
    execution: { workflowId: `$catalog:${catalog}` },
  })
  return describe.then(
    () => true,
    () => false,
  )
}
