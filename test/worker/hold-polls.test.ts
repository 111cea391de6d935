import { NativeConnection, Worker, type WorkerPlugin } from '@temporalio/worker'
import { expect } from 'vitest'
import { quietRuntime, untilPolled } from '../../dev/servers/worker.ts'
import { haveWorkflowBundle } from '../../dev/servers/workflow-bundle.ts'
import { holdPolls } from '../../src/worker/catalog/hold-polls.ts'
import { test as baseTest } from '../support/fixtures.ts'

const WORKFLOWS = new URL('../support/workflows.ts', import.meta.url)

const test = baseTest.extend('nativeConnection', { scope: 'file' }, async ({ engine, cleanup }) => {
  quietRuntime()
  const connection = await NativeConnection.connect({ address: engine.address })
  // Closing fails while a worker holds the connection.
  cleanup.defer(() => connection.close())
  return connection
})

test('holdPolls: the worker runs, takes activities, and asks for no workflow task until it is released', async ({
  nativeConnection: connection,
}) => {
  const { worker, held } = await aHeldWorker(connection)
  const running = worker.run()
  await untilPolled(connection, 'default', worker.options.taskQueue, 'activities')

  expect(worker.getState()).toBe('RUNNING')
  expect(await isPolled(connection, worker)).toBe(false)

  held().release()
  await untilPolled(connection, 'default', worker.options.taskQueue)
  worker.shutdown()
  await running
})

test('holdPolls: a worker that is shut down while it is held ends, and was never seen polling', async ({
  nativeConnection: connection,
}) => {
  const { worker } = await aHeldWorker(connection)
  const running = worker.run()

  worker.shutdown()
  await running

  expect(worker.getState()).toBe('STOPPED')
  expect(await isPolled(connection, worker)).toBe(false)
})

test('holdPolls: runUntil ends a worker that is held, and it was never seen polling', async ({
  nativeConnection: connection,
}) => {
  const { worker } = await aHeldWorker(connection)

  const result = await worker.runUntil(async () => 'done')

  expect(result).toBe('done')
  expect(worker.getState()).toBe('STOPPED')
  expect(await isPolled(connection, worker)).toBe(false)
})

async function aHeldWorker(connection: NativeConnection) {
  let held: ReturnType<typeof holdPolls> | undefined
  const plugin: WorkerPlugin = {
    name: 'test',
    runWorker(worker, next) {
      held = holdPolls(worker)
      return next(worker)
    },
  }
  const taskQueue = `held-${crypto.randomUUID()}`
  const workflowBundle = await haveWorkflowBundle(WORKFLOWS)
  const options = { connection, taskQueue, workflowBundle, activities: { act: async () => {} }, shutdownGraceTime: 0 }
  const worker = await Worker.create({ ...options, plugins: [plugin] })
  return { worker, held: () => held ?? expect.fail('the worker does not run') }
}

async function isPolled(connection: NativeConnection, { options: { taskQueue } }: Worker): Promise<boolean> {
  const { pollers } = await connection.workflowService.describeTaskQueue({
    namespace: 'default',
    taskQueue: { name: taskQueue },
    taskQueueType: 1, // WORKFLOW
  })
  return (pollers?.length ?? 0) > 0
}
