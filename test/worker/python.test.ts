import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { test as baseTest } from '../support/fixtures.ts'
import { startPythonWorker } from '../support/python-worker.ts'

const test = baseTest
  .extend('worker', { scope: 'file' }, async ({ engine, catalog, cleanup }) => {
    const worker = await startPythonWorker({ address: engine.address, taskQueue: catalog })
    cleanup.defer(() => worker.stop())
    return worker
  })
  /** Starts a workflow on the Python worker. */
  .extend('start', { scope: 'file' }, ({ client, worker }) => (workflow: string, input: unknown) => {
    const workflowId = `python-${crypto.randomUUID()}`
    return client.workflow.start(workflow, { workflowId, taskQueue: worker.taskQueue, args: [input] })
  })

test('a Python worker: runs a workflow', async ({ start }) => {
  const handle = await start('py_greet', { name: 'Ada' })

  expect(await handle.result()).toBe('Hello, Ada!')
})

test('a Python worker: sends numbers above 2^53 exactly', async ({ start }) => {
  const handle = await start('py_big_numbers', null)
  await handle.result()

  const { events } = await handle.fetchHistory()
  const payload = events?.at(-1)?.workflowExecutionCompletedEventAttributes?.result?.payloads?.[0]

  expect(Buffer.from(payload?.data ?? '').toString()).toBe(
    '{"given":null,"id":9007199254740993,"wide":1000000000000000000000000000007}',
  )
})

test('a Python worker: handles signals, queries and updates', async ({ start }) => {
  const handle = await start('py_messages', null)

  const change = await handle.executeUpdate<unknown, [number]>('set', { args: [5] })
  const rejection = await handle.executeUpdate<unknown, [number]>('set', { args: [-1] }).catch(thrown)
  const state = await handle.query('state')
  await handle.signal('finish', 'now')

  expect(change).toEqual({ before: 0, after: 5 })
  expect(rejection).toMatchObject({ cause: { message: '-1 is negative' } })
  expect(state).toEqual({ value: 5, finished: [] })
  expect(await handle.result()).toEqual({ value: 5, finished: ['now'] })
})

test('a Python worker: fails with its own error type', async ({ start }) => {
  const handle = await start('py_fail', 1)

  const failure = await handle.result().catch(thrown)

  expect(failure).toMatchObject({ cause: { type: 'BadInput', nonRetryable: true, message: 'no retry please' } })
})

test('a Python worker: reports why a workflow task fails, without the stack', async ({ start, client, serve }) => {
  const service = serve()
  const { workflowId } = await start('py_nope', null)

  const { problem } = await until('it has failed', async () => {
    const response = await service.fetch(new Request(`http://portico/workflow/${workflowId}/status`))
    const status = JSON.parse(await response.text())
    return status.problem ? status : null
  })
  await client.workflow.getHandle(workflowId).terminate()

  expect(problem.message).toMatch(/^Workflow class py_nope is not registered on this worker/)
  expect(problem.message).not.toMatch(/Traceback|File "|site-packages/)
})

test('a Python worker: several details of a heartbeat are an array in the progress of the run', async ({
  start,
  client,
  serve,
}) => {
  const service = serve()
  const { workflowId } = await start('py_import_all', 10)

  const text = await until('the heartbeat has arrived', async () => {
    const status = await (await service.fetch(new Request(`http://portico/workflow/${workflowId}/status`))).text()
    return JSON.parse(status).progress ? status : null
  })
  await client.workflow.getHandle(workflowId).terminate()

  expect(JSON.parse(text).progress).toMatchObject([{ activityType: 'py_import', attempt: 1 }])
  expect(text).toContain('"details":[{"done":9007199254740993},10]')
})

function thrown(error: unknown): unknown {
  return error
}
