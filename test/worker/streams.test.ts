/** The stream workflows of the test workers, read with the SDK's own client: what the tests of the API build on. */
import type { WorkflowHandle } from '@temporalio/client'
import { WorkflowStreamClient } from '@temporalio/workflow-streams/client'
import { expect } from 'vitest'
import { test as baseTest } from '../support/fixtures.ts'
import { startPythonWorker } from '../support/python-worker.ts'

type Worker = 'typescript' | 'python'

const test = baseTest
  .extend('start', { scope: 'file' }, ({ client, worker }) => {
    return (workflow: string, ...args: unknown[]) => {
      const workflowId = `streams-${crypto.randomUUID()}`
      return client.workflow.start(workflow, { workflowId, taskQueue: worker.taskQueue, args })
    }
  })
  .extend('pythonQueue', { scope: 'file' }, async ({ engine, catalog, cleanup }) => {
    const worker = await startPythonWorker({ address: engine.address, taskQueue: `${catalog}-python` })
    cleanup.defer(() => worker.stop())
    return worker.taskQueue
  })
  /** Starts a workflow that has the stream and the signals of `streamSignals`. */
  .extend('startSignals', { scope: 'file' }, ({ client, worker, pythonQueue }) => (of: Worker) => {
    const [workflow, taskQueue] = of === 'python' ? ['py_stream', pythonQueue] : ['streamSignals', worker.taskQueue]
    return client.workflow.start(workflow, { workflowId: `streams-${crypto.randomUUID()}`, taskQueue, args: [{}] })
  })
  .extend('streamOf', { scope: 'file' }, ({ client }) => ({ workflowId }: WorkflowHandle) => {
    // The library may have a copy of the client of its own: same code, but another class for TypeScript.
    return WorkflowStreamClient.create(client, workflowId)
  })
  /** Publishes `a` to a run of such a workflow, and `b` to the next run, which the signal begins. Returns that run. */
  .extend('startTwoRuns', { scope: 'file' }, ({ client, startSignals, streamOf }) => {
    return async (of: Worker, signal: 'continueAsNew' | 'restart'): Promise<WorkflowHandle> => {
      const handle = await startSignals(of)
      await publish(streamOf(handle), 'a')
      await handle.signal(signal)
      await ended(client.workflow.getHandle(handle.workflowId, handle.firstExecutionRunId))
      await publish(streamOf(handle), 'b')
      return client.workflow.getHandle(handle.workflowId)
    }
  })
  /** The items of a stream as `topic: JSON`, `count` of them. */
  .extend('read', { scope: 'file' }, ({ streamOf }) => async (handle: WorkflowHandle, count: number, from = 0) => {
    const items: string[] = []
    for await (const { topic, data, offset } of streamOf(handle).subscribe(undefined, from, { pollCooldown: 1 })) {
      items.push(`${offset} ${topic}: ${Buffer.from(data.data ?? []).toString()}`)
      if (items.length === count) break
    }
    return items
  })

test.for<Worker>(['typescript', 'python'])(
  'a stream in %s: holds what clients and the workflow publish',
  async (of, { startSignals, streamOf, read }) => {
    const handle = await startSignals(of)

    await publish(streamOf(handle), 'a', 'b')
    await handle.signal('publishItself', 2)
    const sum = await handle.executeUpdate<number, [number]>('add', { args: [5] })
    const items = await read(handle, 4)
    await handle.signal('finish')

    expect(items).toEqual(['0 words: "a"', '1 words: "b"', '2 numbers: 0', '3 numbers: 1'])
    expect(sum).toBe(5)
    expect(await handle.result()).toBe('done')
  },
)

test.for<Worker>(['typescript', 'python'])(
  'a stream in %s: is truncated by a signal',
  async (of, { startSignals, streamOf, read }) => {
    const handle = await startSignals(of)

    await publish(streamOf(handle), 'a', 'b', 'c')
    await handle.signal('truncate', 2)
    const items = await read(handle, 1)
    await handle.signal('finish')

    expect(items).toEqual(['2 words: "c"'])
  },
)

test.for<Worker>(['typescript', 'python'])(
  'a stream in %s: is carried over by continueAsNew',
  async (of, { startTwoRuns, read }) => {
    const newest = await startTwoRuns(of, 'continueAsNew')

    const items = await read(newest, 2)
    await newest.signal('finish')

    expect(items).toEqual(['0 words: "a"', '1 words: "b"'])
    expect(await newest.result()).toBe('done')
  },
)

test.for<Worker>(['typescript', 'python'])(
  'a stream in %s: begins again after restart',
  async (of, { startTwoRuns, read }) => {
    const newest = await startTwoRuns(of, 'restart')

    const items = await read(newest, 1)
    await newest.signal('finish')

    expect(items).toEqual(['0 words: "b"'])
  },
)

test('a stream: outlives a run that fails', async ({ startSignals, streamOf }) => {
  const handle = await startSignals('typescript')

  await publish(streamOf(handle), 'a')
  await handle.signal('fail')
  const failure = await handle.result().catch((error: unknown) => error)

  expect(failure).toMatchObject({ cause: { type: 'StreamFailed' } })
  expect(await streamOf(handle).getOffset()).toBe(1)
})

test('a stream: holds what an activity publishes, word by word', async ({ client, start, pythonQueue, read }) => {
  const words = ['Hello', ',', ' Ada']
  const handle = await start('streamFromActivity', words)
  const python = await client.workflow.start('py_stream', {
    workflowId: `streams-${crypto.randomUUID()}`,
    taskQueue: pythonQueue,
    args: [{ batches: words.map((word) => [word]) }],
  })

  const items = await read(python, 3)
  await python.signal('finish')

  expect(items).toEqual(words.map((text, index) => `${index} tokens: ${JSON.stringify({ text })}`))
  expect([await handle.result(), await python.result()]).toEqual(['Hello, Ada', 'Hello, Ada'])
  const { events } = await handle.fetchHistory()
  expect(events?.filter(({ workflowExecutionSignaledEventAttributes: signaled }) => signaled)).toHaveLength(3)
})

test('a stream: history has no event of what the workflow itself publishes', async ({ start, streamOf }) => {
  const handle = await start('streamItself', 5)

  expect(await handle.result()).toBe('done')
  expect(await streamOf(handle).getOffset()).toBe(5)
  const { events } = await handle.fetchHistory()
  expect(events?.map(({ eventType }) => eventType)).toHaveLength(5)
})

test('a stream: holds one big item of the workflow', async ({ start, read }) => {
  const handle = await start('streamBig', 100_000)

  const [item] = await read(handle, 1)
  await handle.signal('finish')

  expect(item).toBe(`0 big: "${'x'.repeat(100_000)}"`)
})

test('handlers for every name: take user messages without a stream', async ({ client, start, pythonQueue }) => {
  const handle = await start('defaultHandlers')
  const python = await client.workflow.start('py_dynamic_handlers', {
    workflowId: `streams-${crypto.randomUUID()}`,
    taskQueue: pythonQueue,
  })

  const updates = await Promise.all([handle, python].map((run) => run.executeUpdate('anything')))
  const offset = await python.query('__temporal_workflow_stream_offset')
  await Promise.all([handle, python].map((run) => run.signal('finish')))

  expect(updates).toEqual([{ update: 'anything' }, { update: 'anything' }])
  expect(offset).toMatchObject({ query: '__temporal_workflow_stream_offset' })
  expect(await handle.result()).toEqual(['finish'])
  expect(await python.result()).toEqual(['update anything', 'signal finish'])
})

/** Resolves when the engine has the words, all in one batch, on the topic `words`. */
async function publish(stream: WorkflowStreamClient, ...words: string[]): Promise<void> {
  await using publisher = stream
  for (const word of words) publisher.topic<string>('words').publish(word)
}

/** Resolves when this very run has ended, whatever follows it. */
async function ended(run: WorkflowHandle): Promise<void> {
  await run.client.workflowService.getWorkflowExecutionHistory({
    namespace: run.client.options.namespace,
    execution: { workflowId: run.workflowId, runId: (await run.describe()).runId },
    waitNewEvent: true,
    historyEventFilterType: 2,
  })
}
