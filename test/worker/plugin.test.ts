import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DefaultLogger, NativeConnection, Runtime, Worker, type WorkerPlugin } from '@temporalio/worker'
import { afterEach, beforeEach, expect, inject, test, vi } from 'vitest'
import { parseTracesConfig } from '../../src/config/worker.ts'
import { defineCatalog } from '../../src/worker/catalog/define-catalog.ts'
import { porticoPlugin } from '../../src/worker/plugin.ts'
import * as activities from '../support/activities.ts'

const CATALOG = defineCatalog({ echo: { description: 'Says it again' } })

let connection: NativeConnection
let warnings: string[]

beforeEach(async () => {
  warnings = []
  // It ended with the connection of the test before.
  Runtime.install({ logger: new DefaultLogger('WARN', ({ message }) => warnings.push(message)), shutdownSignals: [] })
  connection = await NativeConnection.connect({ address: inject('engine').address })
})

afterEach(async () => {
  vi.unstubAllEnvs()
  // Closing fails while a worker holds the connection.
  await connection.close()
})

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
  const huge = {
    ...CATALOG,
    workflows: CATALOG.workflows.map((workflow) => ({ ...workflow, description: 'x'.repeat(3 << 20) })),
  }
  const worker = await Worker.create({ connection, taskQueue, activities, plugins: [porticoPlugin({ catalog: huge })] })

  await expect(worker.run()).rejects.toThrow(`Catalog ${taskQueue} could not be published to namespace default`)

  expect(worker.getState()).toBe('STOPPED')
  expect(await published(taskQueue)).toBe(false)
})

test('porticoPlugin: warns when variables ask for traces that the plugin was not told of', async () => {
  vi.stubEnv('SERVICE_TRACE_REMOTE_ON', 'true')
  vi.stubEnv('SERVICE_TRACE_LOCAL_ON', 'false')

  await runOnce(porticoPlugin({ catalog: CATALOG }))

  expect(warningsOfTraces()).toEqual([
    'SERVICE_TRACE_REMOTE_ON has no effect on this worker: pass traces: parseTracesConfig(process.env) to porticoPlugin',
  ])
})

test('porticoPlugin: does not warn of traces when it was told of them, or nothing asks for any', async () => {
  await runOnce(porticoPlugin({ catalog: CATALOG }))
  vi.stubEnv('SERVICE_TRACE_LOCAL_ON', 'true')
  await runOnce(porticoPlugin({ catalog: CATALOG, traces: parseTracesConfig({}) }))

  expect(warningsOfTraces()).toEqual([])
})

test('porticoPlugin: warns when a later plugin has replaced the interceptors that it traces with', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'portico-plugin-'))
  const traces = parseTracesConfig({ SERVICE_TRACE_LOCAL_ON: 'true', SERVICE_TRACE_LOCAL_DIR: folder })
  const replacing: WorkerPlugin = {
    name: 'replacing',
    configureWorker: (options) => ({ ...options, interceptors: {} }),
  }

  await runOnce(porticoPlugin({ catalog: CATALOG, traces }), replacing)
  await runOnce(replacing, porticoPlugin({ catalog: CATALOG, traces }))
  await rm(folder, { recursive: true })

  expect(warningsOfTraces()).toEqual([expect.stringContaining('another plugin replaced interceptors.activity')])
})

async function runOnce(...plugins: WorkerPlugin[]): Promise<void> {
  const worker = await Worker.create({ connection, taskQueue: aCatalog(), activities, plugins })
  await worker.runUntil(async () => {})
}

function warningsOfTraces(): string[] {
  return warnings.filter((message) => /trace/i.test(message))
}

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
