/** Tracing does not change a run's history, so it can be enabled and disabled while runs are open. */
import { fileURLToPath } from 'node:url'
import type { Client, WorkflowHandle } from '@temporalio/client'
import proto from '@temporalio/proto'
import { Worker } from '@temporalio/worker'
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { defineCatalog, porticoPlugin } from '../../src/worker/index.ts'
import { test as baseTest } from '../support/fixtures.ts'
import type { TestWorker } from '../support/worker.ts'
import * as activities from './fixtures/traced-activities.ts'
import type { Plan } from './fixtures/traced-workflows.ts'

const workflowsPath = new URL('./fixtures/traced-workflows.ts', import.meta.url)
const catalog = defineCatalog({ story: {}, ticking: {} })

interface RunOptions {
  traced: boolean
  stickyQueueScheduleToStartTimeout?: string
}

type Run = (taskQueue: string, options: RunOptions) => Promise<TestWorker>

const test = baseTest
  .extend('plugin', { scope: 'file' }, ({ folder }) => () => {
    const traces = { remote: null, local: { directory: folder, writes: true }, maxBytes: 1 << 20 }
    return porticoPlugin({ catalog, traces })
  })
  /** Starts a worker, traced or not, with the workflows of the story. */
  .extend(
    'run',
    { scope: 'file' },
    ({ startWorker, plugin }): Run =>
      (taskQueue, { traced, ...options }) => {
        const plugins = [traced ? plugin() : porticoPlugin({ catalog })]
        return startWorker({ taskQueue, activities, workflowsPath, options: { ...options, plugins } })
      },
  )

test('tracing: a traced run has the same history as an untraced one, event by event', async ({ client, run }) => {
  const plans: Plan[] = [{ end: 'complete', children: 1 }, { end: 'fail' }, { end: 'complete', links: 2 }]

  const traced = await eventTypes(client, run, plans, { traced: true })
  const untraced = await eventTypes(client, run, plans, { traced: false })

  expect(traced).toEqual(untraced)
  expect(traced.flat()).toContain('EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_COMPLETED')
})

test('tracing: can be enabled and disabled during a run, which replays with and without it', async ({
  client,
  run,
  plugin,
}) => {
  const taskQueue = `switched-${crypto.randomUUID()}`
  // Shortens the wait for the sticky queue of the previous worker.
  const stickyQueueScheduleToStartTimeout = '100ms'
  const first = await run(taskQueue, { traced: true, stickyQueueScheduleToStartTimeout })
  const handle = await client.workflow.start('story', { workflowId: taskQueue, taskQueue, args: [{ end: 'open' }] })
  await stepDone(handle)
  await first.stop()
  const second = await run(taskQueue, { traced: false, stickyQueueScheduleToStartTimeout })
  await handle.query('__stack_trace')
  await second.stop()
  const third = await run(taskQueue, { traced: true, stickyQueueScheduleToStartTimeout })
  await handle.cancel()
  await handle.result().catch(() => {})
  await third.stop()

  const history = await handle.fetchHistory()

  expect((await handle.describe()).status.name).toBe('CANCELLED')
  expect(history.events?.some((event) => event.workflowTaskFailedEventAttributes)).toBe(false)
  const options = { workflowsPath: fileURLToPath(workflowsPath), taskQueue: 'replayed' }
  await Worker.runReplayHistory(options, history)
  // Plugins are not applied to replays.
  const traced = await plugin().configureWorker?.(options)
  expect(traced?.interceptors).toMatchObject({ activity: [expect.any(Function)], nexus: [expect.any(Function)] })
  await Worker.runReplayHistory({ ...traced }, history)
})

/** The types of the events of each plan's first run. */
async function eventTypes(
  client: Client,
  run: Run,
  plans: Plan[],
  { traced }: { traced: boolean },
): Promise<(string | undefined)[][]> {
  const taskQueue = `events-${crypto.randomUUID()}`
  const worker = await run(taskQueue, { traced })
  const types: (string | undefined)[][] = []
  // One after the other, because concurrent runs have events in any order.
  for (const plan of plans) {
    const workflowId = crypto.randomUUID()
    const childQueue = `children-${workflowId}`
    const handle = await client.workflow.start('story', { workflowId, taskQueue, args: [{ ...plan, childQueue }] })
    const readTypes = async () => {
      const { events } = await client.workflow.getHandle(workflowId, handle.firstExecutionRunId).fetchHistory()
      return (events ?? []).map(({ eventType }) => proto.temporal.api.enums.v1.EventType[eventType ?? 0])
    }
    if (plan.children) {
      // Otherwise its parent has a workflow task between the start and the end of the child, or none.
      await until('the parent knows that its child has started', async () => {
        const names = await readTypes()
        const hasStarted = names.includes('EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_STARTED')
        return hasStarted && names.at(-1) === 'EVENT_TYPE_WORKFLOW_TASK_COMPLETED'
      })
      await run(childQueue, { traced })
    }
    await handle.result().catch(() => {})
    types.push(await readTypes())
  }
  await worker.stop()
  return types
}

async function stepDone(handle: WorkflowHandle): Promise<void> {
  await until('a step is done', async () => {
    const { events } = await handle.fetchHistory()
    return events?.some((event) => event.activityTaskCompletedEventAttributes)
  })
}
