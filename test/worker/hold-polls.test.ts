import { type NativeConnection, Worker, type WorkerPlugin } from '@temporalio/worker'
import { expect, vi } from 'vitest'
import { isPolled, untilPolled } from '../../dev/servers/worker.ts'
import { ensureWorkflowBundle } from '../../dev/servers/workflow-bundle.ts'
import { holdPolls } from '../../src/worker/catalog/hold-polls.ts'
import { test } from '../support/fixtures.ts'

const WORKFLOWS = new URL('../support/workflows.ts', import.meta.url)

test('a held worker runs and polls for activities, but does not poll for workflow tasks until it is released', async ({
  nativeConnection: connection,
}) => {
  const { worker, held } = await aHeldWorker(connection)
  const running = worker.run()
  await untilPolled(connection, 'default', worker.options.taskQueue, 'activities')

  expect(worker.getState()).toBe('RUNNING')
  expect(await isPolled(connection, 'default', worker.options.taskQueue)).toBe(false)

  held().release()
  await untilPolled(connection, 'default', worker.options.taskQueue)
  expect(await isPolled(connection, 'default', worker.options.taskQueue)).toBe(true)
  worker.shutdown()
  await running
})

test('a held worker that is shut down stops without polling for workflow tasks', async ({
  nativeConnection: connection,
}) => {
  const { worker, held } = await aHeldWorker(connection)
  const running = worker.run()
  await untilPolled(connection, 'default', worker.options.taskQueue, 'activities')
  expect(await isPolled(connection, 'default', worker.options.taskQueue)).toBe(false)

  worker.shutdown()
  await running

  expect(worker.getState()).toBe('STOPPED')
  expect(held().polls()).toBe(0)
})

test('runUntil stops a held worker without polling for workflow tasks', async ({ nativeConnection: connection }) => {
  const { worker, held } = await aHeldWorker(connection)

  const result = await worker.runUntil(async () => 'done')

  expect(result).toBe('done')
  expect(worker.getState()).toBe('STOPPED')
  expect(held().polls()).toBe(0)
})

async function aHeldWorker(connection: NativeConnection) {
  let held: { release: () => void; polls: () => number } | undefined
  const plugin: WorkerPlugin = {
    name: 'test',
    runWorker(worker, next) {
      // Counts the polls that the SDK starts. Whether one that it starts after a shutdown reaches the engine depends on
      // how busy the machine is.
      const polls = vi.spyOn(Reflect.get(worker, 'nativeWorker'), 'pollWorkflowActivation')
      const { release } = holdPolls(worker)
      held = { release, polls: () => polls.mock.calls.length }
      return next(worker)
    },
  }
  const taskQueue = `held-${crypto.randomUUID()}`
  const workflowBundle = await ensureWorkflowBundle(WORKFLOWS)
  const options = { connection, taskQueue, workflowBundle, activities: { act: async () => {} }, shutdownGraceTime: 0 }
  const worker = await Worker.create({ ...options, plugins: [plugin] })
  return { worker, held: () => held ?? expect.fail('the worker does not run') }
}
