/** Catalogs that are lost, and engines that are unavailable during publication. */
import { expect } from 'vitest'
import { type RunningEngine, startEngine } from '../../dev/servers/engine.ts'
import { isPolled, untilPolled } from '../../dev/servers/worker.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { GrpcCode } from '../../src/shared/temporal/grpc-code.ts'
import { defineCatalog } from '../../src/worker/catalog/define-catalog.ts'
import { isPublished } from '../support/is-published.ts'
import { type KitWorker, test as kitTest, untilChecked } from '../support/kit-worker.ts'
import { promisedMs } from '../support/promises.ts'

const CATALOG = defineCatalog({ echo: { aliases: ['parrot'] } })

// The SDK compresses its requests, so the proxy cannot tell them apart: only one test at a time uses it.
const ANYTHING = ''

const RECOVERED = 'Catalog checks succeed again'

const test = kitTest
  /** Starts a worker with the catalog. */
  .extend('run', ({ runKitWorker }) => (options: Omit<Parameters<typeof runKitWorker>[0], 'catalog'>) => {
    return runKitWorker({ catalog: CATALOG, ...options })
  })
  /** The warnings that are logged for a catalog. */
  .extend('warningsOf', ({ log }) => (catalog: string): string[] => {
    const warnings = log.filter(({ level, meta }) => level === 'WARN' && meta?.catalog === catalog)
    return warnings.map(({ message }) => message)
  })

test('a terminated catalog is published again, with one warning', async ({ connection, run, warningsOf }) => {
  const taskQueue = aTaskQueue()
  const worker = await run({ taskQueue })
  await worker.ready

  const workflowExecution = { workflowId: `$catalog:${taskQueue}` }
  await connection.workflowService.terminateWorkflowExecution({ namespace: 'default', workflowExecution })

  await until('it is published again', () => isPublished(connection, taskQueue))
  await untilChecked(worker, 3)
  expect(warningsOf(taskQueue)).toEqual(['Catalog was missing and has been published again'])
})

test('after an engine restarts without its data, the catalog is published again and the API rejects unknown names again (failure 11)', async ({
  run,
  warningsOf,
  serve,
}) => {
  const engine = await startEngine()
  const served = serve({ ENGINE_ADDRESS: engine.address, SERVICE_CATALOG_ID: aTaskQueue(), SERVICE_CATALOG_TTL: '1ms' })
  const worker = await run({ address: engine.address, taskQueue: served.catalog })
  await worker.ready
  const startUnknown = async () => (await served.start('nonsense', 1)).status
  expect(await startUnknown()).toBe(424)

  await engine.kill()
  const empty = await engine.restart()

  await until('unknown names are rejected again', async () => (await startUnknown()) === 424, {
    timeoutMs: promisedMs(11, '40 s'),
  })
  await until('it is logged', () =>
    warningsOf(served.catalog).includes('Catalog was missing and has been published again'),
  )
  await end(worker, empty)
})

test('a worker that starts while the engine is frozen keeps running and publishes when the engine resumes (failure 31)', async ({
  run,
  warningsOf,
}) => {
  const engine = await startEngine()
  const taskQueue = aTaskQueue()
  const worker = await run({
    address: engine.address,
    taskQueue,
    publishTimeoutMs: 1000,
    beforeRun: () => process.kill(engine.pid, 'SIGSTOP'),
  })

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
})

test('a running worker survives a frozen engine, with one warning', async ({ run, log, warningsOf }) => {
  const engine = await startEngine()
  const taskQueue = aTaskQueue()
  const worker = await run({ address: engine.address, taskQueue })
  await worker.ready
  process.kill(engine.pid, 'SIGSTOP')

  await until('a check has failed', () => warningsOf(taskQueue).length > 0)
  process.kill(engine.pid, 'SIGCONT')
  await until('a check has succeeded', () =>
    log.some(({ message, meta }) => message === RECOVERED && meta?.catalog === taskQueue),
  )

  expect(worker.worker.getState()).toBe('RUNNING')
  expect(warningsOf(taskQueue)).toEqual([expect.stringContaining('could not be checked in namespace default')])
  await end(worker, engine)
})

test('a worker does not poll before its catalog is published, and can be shut down meanwhile', async ({
  connection,
  faultProxy,
  run,
}) => {
  const taskQueue = aTaskQueue()
  const allow = faultProxy.on({ method: 'StartWorkflowExecution', containing: ANYTHING, fault: 'hang' })
  const worker = await run({ address: faultProxy.address, taskQueue })
  await until('its catalog is on the way', () => faultProxy.hanging() > 0)
  expect(await isPolled(connection, 'default', taskQueue)).toBe(false)

  await worker.stop()

  allow()
  expect(worker.worker.getState()).toBe('STOPPED')
  // Not what the engine lists: the SDK itself sometimes sends a poll when it shuts down.
  expect(worker.polls()).toBe(0)
})

test('transient errors are retried until the catalog is published, with one warning', async ({
  connection,
  faultProxy,
  run,
  warningsOf,
}) => {
  const taskQueue = aTaskQueue()
  const fault = { code: GrpcCode.UNAVAILABLE, message: 'away' }
  const allow = faultProxy.on({ method: 'StartWorkflowExecution', containing: ANYTHING, fault })
  const worker = await run({ address: faultProxy.address, taskQueue })
  await until('two attempts have failed', () => worker.checks() > 2, { timeoutMs: 40_000 })
  expect(await isPolled(connection, 'default', taskQueue)).toBe(false)

  allow()
  await worker.ready

  expect(await isPublished(connection, taskQueue)).toBe(true)
  expect(warningsOf(taskQueue)).toHaveLength(1)
})

test('a denied permission ends the worker with the reason, before it polls (failure 32)', async ({
  faultProxy,
  run,
}) => {
  const taskQueue = aTaskQueue()
  const fault = { code: GrpcCode.PERMISSION_DENIED, message: 'not yours' }
  const allow = faultProxy.on({ method: 'StartWorkflowExecution', containing: ANYTHING, fault })
  const worker = await run({ address: faultProxy.address, taskQueue })

  await expect(worker.running).rejects.toThrow(
    `Catalog ${taskQueue} could not be published to namespace default: not yours`,
  )

  allow()

  expect(worker.worker.getState()).toBe('STOPPED')
  expect(worker.polls()).toBe(0)
})

test('a denied permission is one warning with onPublishError: warn, and the worker runs without a catalog (failure 32)', async ({
  connection,
  faultProxy,
  run,
  warningsOf,
}) => {
  const taskQueue = aTaskQueue()
  const fault = { code: GrpcCode.PERMISSION_DENIED, message: 'not yours' }
  const allow = faultProxy.on({ method: 'StartWorkflowExecution', containing: ANYTHING, fault })
  const worker = await run({ address: faultProxy.address, taskQueue, onPublishError: 'warn' })
  await worker.ready

  await untilPolled(connection, 'default', taskQueue)
  await untilChecked(worker, 3)

  await expect(isPublished(connection, taskQueue)).rejects.toThrow('workflow not found')
  allow()
  expect(worker.worker.getState()).toBe('RUNNING')
  expect(warningsOf(taskQueue)).toEqual([expect.stringContaining('not yours')])
})

test('a permission that is denied later does not end a running worker', async ({ faultProxy, run, warningsOf }) => {
  const taskQueue = aTaskQueue()
  const worker = await run({ address: faultProxy.address, taskQueue })
  await worker.ready

  const denied = { code: GrpcCode.PERMISSION_DENIED, message: 'not any more' }
  const allow = faultProxy.on({ method: 'DescribeWorkflowExecution', containing: ANYTHING, fault: denied })
  await until('it was denied', () => warningsOf(taskQueue).length > 0)
  await untilChecked(worker, 3)
  allow()

  expect(worker.worker.getState()).toBe('RUNNING')
  expect(warningsOf(taskQueue)).toEqual([expect.stringContaining('not any more')])
})

/** A worker has to end before its engine does. */
async function end(worker: KitWorker, engine: RunningEngine): Promise<void> {
  await worker.stop()
  await engine.stop()
}

function aTaskQueue(): string {
  return `lost-${crypto.randomUUID()}`
}
