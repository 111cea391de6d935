import { fileURLToPath } from 'node:url'
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker, type WorkerPlugin } from '@temporalio/worker'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { quietRuntime, untilPolled } from '../../dev/servers/worker.ts'
import { holdPolls } from '../../src/worker/catalog/hold-polls.ts'

const WORKFLOWS = fileURLToPath(new URL('../support/workflows.ts', import.meta.url))

let connection: NativeConnection
let workflowBundle: Awaited<ReturnType<typeof bundleWorkflowCode>>

beforeAll(async () => {
  quietRuntime()
  connection = await NativeConnection.connect({ address: inject('engine').address })
  workflowBundle = await bundleWorkflowCode({ workflowsPath: WORKFLOWS, logger: new DefaultLogger('ERROR') })
})

// Closing fails while a worker holds the connection.
afterAll(() => connection?.close())

test('holdPolls: the worker runs, takes activities, and asks for no workflow task until it is released', async () => {
  const { worker, held } = await aHeldWorker()
  const running = worker.run()
  await untilPolled(connection, 'default', worker.options.taskQueue, 'activities')

  expect(worker.getState()).toBe('RUNNING')
  expect(await isPolled(worker)).toBe(false)

  held().release()
  await untilPolled(connection, 'default', worker.options.taskQueue)
  worker.shutdown()
  await running
})

test('holdPolls: a worker that is shut down while it is held ends, and was never seen polling', async () => {
  const { worker } = await aHeldWorker()
  const running = worker.run()

  worker.shutdown()
  await running

  expect(worker.getState()).toBe('STOPPED')
  expect(await isPolled(worker)).toBe(false)
})

test('holdPolls: runUntil ends a worker that is held, and it was never seen polling', async () => {
  const { worker } = await aHeldWorker()

  const result = await worker.runUntil(async () => 'done')

  expect(result).toBe('done')
  expect(worker.getState()).toBe('STOPPED')
  expect(await isPolled(worker)).toBe(false)
})

async function aHeldWorker() {
  let held: ReturnType<typeof holdPolls> | undefined
  const plugin: WorkerPlugin = {
    name: 'test',
    runWorker(worker, next) {
      held = holdPolls(worker)
      return next(worker)
    },
  }
  const taskQueue = `held-${crypto.randomUUID()}`
  const options = { connection, taskQueue, workflowBundle, activities: { act: async () => {} }, shutdownGraceTime: 0 }
  const worker = await Worker.create({ ...options, plugins: [plugin] })
  return { worker, held: () => held ?? expect.fail('the worker does not run') }
}

async function isPolled({ options: { taskQueue } }: Worker): Promise<boolean> {
  const { pollers } = await connection.workflowService.describeTaskQueue({
    namespace: 'default',
    taskQueue: { name: taskQueue },
    taskQueueType: 1, // WORKFLOW
  })
  return (pollers?.length ?? 0) > 0
}
