/** Catalogs that get lost, and engines that are away while they are to be published. */
import { type LogEntry, NativeConnection } from '@temporalio/worker'
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest'
import { type RunningEngine, startEngine } from '../../dev/servers/engine.ts'
import { until } from '../../dev/servers/until.ts'
import { untilPolled } from '../../dev/servers/worker.ts'
import { defineCatalog } from '../../src/worker/catalog/define-catalog.ts'
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts'
import { type KitWorker, recordLog, runKitWorker } from '../support/kit-worker.ts'
import { serve } from '../support/serve.ts'

const CATALOG = defineCatalog({ echo: { aliases: ['parrot'] } })
const PERMISSION_DENIED = 7
const UNAVAILABLE = 14

// What the worker's SDK sends is compressed. Only the workers of one test at a time talk through the proxy.
const ANYTHING = ''

const ANSWERS_AGAIN = 'Catalog checks succeed again'

let log: LogEntry[]
let connection: NativeConnection
let proxy: FaultProxy
const workers: KitWorker[] = []

beforeAll(async () => {
  log = recordLog()
  connection = await NativeConnection.connect({ address: inject('engine').address })
  proxy = await startFaultProxy(inject('engine').address)
})

afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop().catch(() => {})))
})

afterAll(async () => {
  await proxy?.stop()
  await connection?.close()
})

test('a catalog that somebody terminated is published again, with one warning', async () => {
  const taskQueue = aTaskQueue()
  const worker = await run({ taskQueue })
  await worker.ready

  const workflowExecution = { workflowId: `$catalog:${taskQueue}` }
  await connection.workflowService.terminateWorkflowExecution({ namespace: 'default', workflowExecution })

  await until('it is published again', () => isPublished(taskQueue))
  await looksTimes(worker, 3)
  expect(warningsOf(taskQueue)).toEqual(['Catalog was missing and has been published again'])
})

test('an engine that is killed and comes back without its data gets the catalog again, and the API refuses unknown names again', async () => {
  const engine = await startEngine()
  const served = serve({ ENGINE_ADDRESS: engine.address, SERVICE_CATALOG_TTL: '1ms' })
  const worker = await run({ address: engine.address, taskQueue: served.catalog })
  await worker.ready
  const startUnknown = async () => {
    const init = {
      method: 'POST',
      body: '{"workflowName":"nonsense","input":1}',
      headers: { 'content-type': 'application/json' },
    }
    return (await served.fetch(new Request('http://portico/workflow/start', init))).status
  }
  expect(await startUnknown()).toBe(424)

  await engine.kill()
  const empty = await engine.restart()

  await until('unknown names are refused again', async () => (await startUnknown()) === 424, { timeoutMs: 40_000 })
  await until('it is logged', () =>
    warningsOf(served.catalog).includes('Catalog was missing and has been published again'),
  )
  await end(worker, empty)
  await served.close()
}, 90_000)

test('a worker that starts while the engine is frozen runs on, and publishes when the engine answers again', async () => {
  const engine = await startEngine()
  const taskQueue = aTaskQueue()
  const worker = await run({ address: engine.address, taskQueue, beforeRun: () => process.kill(engine.pid, 'SIGSTOP') })

  await until('an attempt has failed', () => warningsOf(taskQueue).length > 0, { timeoutMs: 40_000 })
  expect(worker.worker.getState()).toBe('RUNNING')
  process.kill(engine.pid, 'SIGCONT')
  await worker.ready

  expect(worker.worker.getState()).toBe('RUNNING')
  expect(warningsOf(taskQueue)).toEqual([
    expect.stringMatching(
      `^Catalog ${taskQueue} could not be published to namespace default: .*. The worker keeps running and will retry$`,
    ),
  ])
  await end(worker, engine)
}, 90_000)

test('a worker that runs while the engine is frozen runs on, with one warning', async () => {
  const engine = await startEngine()
  const taskQueue = aTaskQueue()
  const worker = await run({ address: engine.address, taskQueue })
  await worker.ready
  process.kill(engine.pid, 'SIGSTOP')

  await until('a look has failed', () => warningsOf(taskQueue).length > 0, { timeoutMs: 40_000 })
  process.kill(engine.pid, 'SIGCONT')
  await until('a look has worked', () =>
    log.some(({ message, meta }) => message === ANSWERS_AGAIN && meta?.catalog === taskQueue),
  )

  expect(worker.worker.getState()).toBe('RUNNING')
  expect(warningsOf(taskQueue)).toEqual([expect.stringContaining('could not be checked in namespace default')])
  await end(worker, engine)
}, 90_000)

test('a worker whose catalog cannot be published yet asks for no workflow task, and ends at once when it is shut down', async () => {
  const taskQueue = aTaskQueue()
  const allow = proxy.on({ method: 'StartWorkflowExecution', containing: ANYTHING, fault: 'hang' })
  const worker = await run({ address: proxy.address, taskQueue })
  await until('its catalog is on the way', () => proxy.hanging() > 0)

  await worker.stop()

  allow()
  expect(worker.worker.getState()).toBe('STOPPED')
  expect(await isPolled(taskQueue)).toBe(false)
})

test('limits and outages are tried again until the catalog is published, with one warning', async () => {
  const taskQueue = aTaskQueue()
  const fault = { code: UNAVAILABLE, message: 'away' }
  const allow = proxy.on({ method: 'StartWorkflowExecution', containing: ANYTHING, fault })
  const worker = await run({ address: proxy.address, taskQueue })
  await until('two attempts have failed', () => worker.looks() > 2, { timeoutMs: 40_000 })
  expect(await isPolled(taskQueue)).toBe(false)

  allow()
  await worker.ready

  expect(await isPublished(taskQueue)).toBe(true)
  expect(warningsOf(taskQueue)).toHaveLength(1)
}, 60_000)

test('a refused permission ends the worker with the reason, before it was seen polling', async () => {
  const taskQueue = aTaskQueue()
  const fault = { code: PERMISSION_DENIED, message: 'not yours' }
  const allow = proxy.on({ method: 'StartWorkflowExecution', containing: ANYTHING, fault })
  const worker = await run({ address: proxy.address, taskQueue })

  await expect(worker.running).rejects.toThrow(
    `Catalog ${taskQueue} could not be published to namespace default: not yours`,
  )

  allow()

  expect(worker.worker.getState()).toBe('STOPPED')
  expect(await isPolled(taskQueue)).toBe(false)
})

test('a refused permission is one warning with onPublishError: warn; the worker runs without a catalog', async () => {
  const taskQueue = aTaskQueue()
  const fault = { code: PERMISSION_DENIED, message: 'not yours' }
  const allow = proxy.on({ method: 'StartWorkflowExecution', containing: ANYTHING, fault })
  const worker = await run({ address: proxy.address, taskQueue, onPublishError: 'warn' })
  await worker.ready

  await untilPolled(connection, 'default', taskQueue)
  await looksTimes(worker, 3)

  allow()
  expect(worker.worker.getState()).toBe('RUNNING')
  expect(warningsOf(taskQueue)).toEqual([expect.stringContaining('not yours')])
})

test('a permission that is taken away from a worker that runs does not end it', async () => {
  const taskQueue = aTaskQueue()
  const worker = await run({ address: proxy.address, taskQueue })
  await worker.ready

  const denied = { code: PERMISSION_DENIED, message: 'not any more' }
  const allow = proxy.on({ method: 'DescribeWorkflowExecution', containing: ANYTHING, fault: denied })
  await until('it was refused', () => warningsOf(taskQueue).length > 0)
  await looksTimes(worker, 3)
  allow()

  expect(worker.worker.getState()).toBe('RUNNING')
  expect(warningsOf(taskQueue)).toEqual([expect.stringContaining('not any more')])
})

interface RunOptions {
  taskQueue: string
  address?: string
  onPublishError?: 'stop' | 'warn'
  beforeRun?: () => void
}

async function run({ address = inject('engine').address, ...options }: RunOptions): Promise<KitWorker> {
  const worker = await runKitWorker({ address, catalog: CATALOG, ...options })
  worker.running.catch(() => {}) // told to those who wait for it
  workers.push(worker)
  return worker
}

/** A worker has to end before its engine does. */
async function end(worker: KitWorker, engine: RunningEngine): Promise<void> {
  await worker.stop()
  await engine.stop()
}

async function looksTimes({ looks }: KitWorker, times: number): Promise<void> {
  const before = looks()
  await until(`it has looked ${times} times more`, () => looks() >= before + times)
}

function warningsOf(catalog: string): string[] {
  return log.filter(({ level, meta }) => level === 'WARN' && meta?.catalog === catalog).map(({ message }) => message)
}

async function isPublished(taskQueue: string): Promise<boolean> {
  const execution = { workflowId: `$catalog:${taskQueue}` }
  const { workflowExecutionInfo: run } = await connection.workflowService.describeWorkflowExecution({
    namespace: 'default',
    execution,
  })
  return run?.status === 1
}

async function isPolled(taskQueue: string): Promise<boolean> {
  const request = { namespace: 'default', taskQueue: { name: taskQueue }, taskQueueType: 1 }
  const { pollers } = await connection.workflowService.describeTaskQueue(request)
  return (pollers?.length ?? 0) > 0
}

function aTaskQueue(): string {
  return `lost-${crypto.randomUUID()}`
}
