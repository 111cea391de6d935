import { NativeConnection, Worker, type WorkerPlugin } from '@temporalio/worker'
import { expect } from 'vitest'
import { parseTracesConfig } from '../../src/shared/config/worker.ts'
import { defineCatalog } from '../../src/worker/catalog/define-catalog.ts'
import { porticoPlugin } from '../../src/worker/plugin.ts'
import * as activities from '../support/activities.ts'
import { test as kitTest } from '../support/kit-worker.ts'

const CATALOG = defineCatalog({ echo: { description: 'Says it again' } })

const test = kitTest
  /** Creates workers by hand, by default on a task queue of their own. */
  .extend('createWorker', { scope: 'file' }, async ({ engine, log: _, cleanup }) => {
    const connection = await NativeConnection.connect({ address: engine.address })
    cleanup.defer(() => connection.close())
    return (plugins: WorkerPlugin[], taskQueue = aTaskQueue()) =>
      Worker.create({ connection, taskQueue, activities, plugins })
  })
  /** Runs a worker with these plugins and shuts it down at once. */
  .extend('runOnce', ({ createWorker }) => async (...plugins: WorkerPlugin[]) => {
    const worker = await createWorker(plugins)
    await worker.runUntil(async () => {})
  })
  /** The warnings about traces that have been logged since the test began. */
  .extend('traceWarnings', ({ log }) => {
    const before = log.length
    return (): string[] => {
      const warnings = log.slice(before).filter(({ level, message }) => level === 'WARN' && /trace/i.test(message))
      return warnings.map(({ message }) => message)
    }
  })
  .extend('isPublished', ({ connection }) => async (catalog: string) => {
    const execution = { workflowId: `$catalog:${catalog}` }
    const described = connection.workflowService.describeWorkflowExecution({ namespace: 'default', execution })
    return described.then(
      () => true,
      () => false,
    )
  })

test('porticoPlugin publishes the catalog of the task queue when a worker that was created by hand runs', async ({
  createWorker,
  isPublished,
}) => {
  const taskQueue = aTaskQueue()
  const ready = Promise.withResolvers<void>()
  const plugin = porticoPlugin({ catalog: CATALOG, onReady: () => ready.resolve() })
  const worker = await createWorker([plugin], taskQueue)
  expect(await isPublished(taskQueue)).toBe(false)

  await worker.runUntil(ready.promise)

  expect(await isPublished(taskQueue)).toBe(true)
})

test('a worker can be shut down while its catalog is being published', async ({ createWorker }) => {
  const worker = await createWorker([porticoPlugin({ catalog: CATALOG })])

  await worker.runUntil(async () => {})

  expect(worker.getState()).toBe('STOPPED')
})

test('a worker whose catalog the engine rejects stops with the reason', async ({ createWorker, isPublished }) => {
  const taskQueue = aTaskQueue()
  const huge = {
    ...CATALOG,
    workflows: CATALOG.workflows.map((workflow) => ({ ...workflow, description: 'x'.repeat(3 << 20) })),
  }
  const worker = await createWorker([porticoPlugin({ catalog: huge })], taskQueue)

  await expect(worker.run()).rejects.toThrow(`Catalog ${taskQueue} could not be published to namespace default`)

  expect(worker.getState()).toBe('STOPPED')
  expect(await isPublished(taskQueue)).toBe(false)
})

test('porticoPlugin warns if environment variables enable traces that it was not given', async ({
  setEnv,
  runOnce,
  traceWarnings,
}) => {
  setEnv({ SERVICE_TRACE_REMOTE_ON: 'true', SERVICE_TRACE_LOCAL_ON: 'false' })

  await runOnce(porticoPlugin({ catalog: CATALOG }))

  expect(traceWarnings()).toEqual([
    'SERVICE_TRACE_REMOTE_ON has no effect on this worker: pass traces: parseTracesConfig(process.env) to porticoPlugin',
  ])
})

test('porticoPlugin does not warn about traces if it was given them, or if no variable enables them', async ({
  setEnv,
  runOnce,
  traceWarnings,
}) => {
  await runOnce(porticoPlugin({ catalog: CATALOG }))
  setEnv({ SERVICE_TRACE_LOCAL_ON: 'true' })
  await runOnce(porticoPlugin({ catalog: CATALOG, traces: parseTracesConfig({}) }))

  expect(traceWarnings()).toEqual([])
})

test('porticoPlugin warns if a later plugin replaces the interceptors that record traces', async ({
  folder,
  runOnce,
  traceWarnings,
}) => {
  const traces = parseTracesConfig({ SERVICE_TRACE_LOCAL_ON: 'true', SERVICE_TRACE_LOCAL_DIR: folder })
  const replacing: WorkerPlugin = {
    name: 'replacing',
    configureWorker: (options) => ({ ...options, interceptors: {} }),
  }

  await runOnce(porticoPlugin({ catalog: CATALOG, traces }), replacing)
  await runOnce(replacing, porticoPlugin({ catalog: CATALOG, traces }))

  expect(traceWarnings()).toEqual([expect.stringContaining('another plugin replaced interceptors.activity')])
})

function aTaskQueue(): string {
  return `plugin-${crypto.randomUUID()}`
}
