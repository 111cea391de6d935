/** Tracing leaves no mark in any history: it can be switched under open runs. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client, Connection, type WorkflowHandle } from '@temporalio/client'
import proto from '@temporalio/proto'
import { Worker } from '@temporalio/worker'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { until } from '../../dev/servers/until.ts'
import { defineCatalog, porticoPlugin } from '../../src/worker/index.ts'
import { startWorker } from '../support/worker.ts'
import * as activities from './fixtures/traced-activities.ts'
import type { Plan } from './fixtures/traced-workflows.ts'

const workflowsPath = new URL('./fixtures/traced-workflows.ts', import.meta.url)
const catalog = defineCatalog({ story: {}, ticking: {} })

let connection: Connection
let client: Client
let folder: string

beforeAll(async () => {
  connection = await Connection.connect({ address: inject('engine').address })
  client = new Client({ connection })
  folder = await mkdtemp(join(tmpdir(), 'portico-untouched-'))
})

afterAll(async () => {
  await connection?.close()
  await rm(folder, { recursive: true, force: true })
})

test('tracing: the history of a traced run is that of an untraced one, event for event', async () => {
  const plans: Plan[] = [{ end: 'complete', children: 1 }, { end: 'fail' }, { end: 'complete', links: 2 }]

  const traced = await shapes(plans, { traced: true })
  const untraced = await shapes(plans, { traced: false })

  expect(traced).toEqual(untraced)
  expect(traced.flat()).toContain('EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_COMPLETED')
})

test('tracing: can be switched on and off under an open run, which then replays with and without', async () => {
  const taskQueue = `switched-${crypto.randomUUID()}`
  const first = await run(taskQueue, { traced: true })
  const handle = await client.workflow.start('story', { workflowId: taskQueue, taskQueue, args: [{ end: 'open' }] })
  await stepDone(handle)
  await first.stop()
  const second = await run(taskQueue, { traced: false })
  await handle.query('__stack_trace')
  await second.stop()
  const third = await run(taskQueue, { traced: true })
  await handle.cancel()
  await handle.result().catch(() => {})
  await third.stop()

  const history = await handle.fetchHistory()

  expect((await handle.describe()).status.name).toBe('CANCELLED')
  expect(history.events?.some((event) => event.workflowTaskFailedEventAttributes)).toBe(false)
  const options = { workflowsPath: fileURLToPath(workflowsPath), taskQueue: 'replayed' }
  await Worker.runReplayHistory(options, history)
  // The plugin configures no replays: all that it would give to a worker has to be given by hand.
  const traced = await plugin().configureWorker?.(options)
  expect(traced?.interceptors).toMatchObject({ activity: [expect.any(Function)], nexus: [expect.any(Function)] })
  await Worker.runReplayHistory({ ...traced }, history)
})

function plugin() {
  return porticoPlugin({
    catalog,
    traces: { remote: null, local: { directory: folder, writes: true }, maxBytes: 1 << 20 },
  })
}

function run(taskQueue: string, { traced }: { traced: boolean }) {
  const { address } = inject('engine')
  // What the worker before has cached is not waited for.
  const options = {
    stickyQueueScheduleToStartTimeout: '100ms',
    plugins: [traced ? plugin() : porticoPlugin({ catalog })],
  } as const
  return startWorker({
    address,
    taskQueue,
    activities,
    workflowsPath,
    options: { ...options, plugins: [...options.plugins] },
  })
}

/** The types of the events of each plan's first run. */
async function shapes(plans: Plan[], { traced }: { traced: boolean }): Promise<(string | undefined)[][]> {
  const taskQueue = `shapes-${crypto.randomUUID()}`
  const worker = await run(taskQueue, { traced })
  const told: (string | undefined)[][] = []
  // One after the other: what runs at once comes in any order.
  for (const plan of plans) {
    const handle = await client.workflow.start('story', { workflowId: crypto.randomUUID(), taskQueue, args: [plan] })
    await handle.result().catch(() => {})
    const { events } = await client.workflow.getHandle(handle.workflowId, handle.firstExecutionRunId).fetchHistory()
    told.push((events ?? []).map(({ eventType }) => proto.temporal.api.enums.v1.EventType[eventType ?? 0]))
  }
  await worker.stop()
  return told
}

async function stepDone(handle: WorkflowHandle): Promise<void> {
  await until('a step is done', async () => {
    const { events } = await handle.fetchHistory()
    return events?.some((event) => event.activityTaskCompletedEventAttributes)
  })
}
