import { Client, Connection } from '@temporalio/client'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { until } from '../../dev/servers/until.ts'
import { startPythonWorker } from '../support/python-worker.ts'
import { serve } from '../support/serve.ts'
import type { TestWorker } from '../support/worker.ts'

const taskQueue = `python-${crypto.randomUUID()}`
let connection: Connection
let client: Client
let worker: TestWorker

beforeAll(async () => {
  const { address } = inject('engine')
  connection = await Connection.connect({ address })
  client = new Client({ connection })
  worker = await startPythonWorker({ address, taskQueue })
}, 180_000)

afterAll(async () => {
  await worker?.stop()
  await connection?.close()
})

test('a Python worker: runs a workflow', async () => {
  expect(await client.workflow.execute('py_greet', { ...start(), args: [{ name: 'Ada' }] })).toBe('Hello, Ada!')
})

test('a Python worker: sends numbers beyond 2^53 as they are', async () => {
  const handle = await client.workflow.start('py_big_numbers', { ...start(), args: [null] })
  await handle.result()

  const { events } = await handle.fetchHistory()
  const payload = events?.at(-1)?.workflowExecutionCompletedEventAttributes?.result?.payloads?.[0]

  expect(Buffer.from(payload?.data ?? '').toString()).toBe(
    '{"given":null,"id":9007199254740993,"wide":1000000000000000000000000000007}',
  )
})

test('a Python worker: takes signals, queries and updates', async () => {
  const handle = await client.workflow.start('py_messages', { ...start(), args: [null] })

  const change = await handle.executeUpdate<unknown, [number]>('set', { args: [5] })
  const refusal = await handle.executeUpdate<unknown, [number]>('set', { args: [-1] }).catch(thrown)
  const state = await handle.query('state')
  await handle.signal('finish', 'now')

  expect(change).toEqual({ before: 0, after: 5 })
  expect(refusal).toMatchObject({ cause: { message: '-1 is negative' } })
  expect(state).toEqual({ value: 5, finished: [] })
  expect(await handle.result()).toEqual({ value: 5, finished: ['now'] })
})

test('a Python worker: fails with its own error type', async () => {
  const handle = await client.workflow.start('py_fail', { ...start(), args: [1] })

  const failure = await handle.result().catch(thrown)

  expect(failure).toMatchObject({ cause: { type: 'BadInput', nonRetryable: true, message: 'no retry please' } })
})

test('a Python worker: says why it fails a workflow task, without its stack', async () => {
  const service = serve({})
  const { workflowId } = await client.workflow.start('py_nope', { ...start(), args: [null] })

  const { problem } = await until('it has failed', async () => {
    const response = await service.fetch(new Request(`http://portico/workflow/${workflowId}/status`))
    const status = JSON.parse(await response.text())
    return status.problem === null ? null : status
  })
  await Promise.all([client.workflow.getHandle(workflowId).terminate(), service.close()])

  expect(problem.message).toMatch(/^Workflow class py_nope is not registered on this worker/)
  expect(problem.message).not.toMatch(/Traceback|File "|site-packages/)
})

function start() {
  return { workflowId: `python-${crypto.randomUUID()}`, taskQueue }
}

function thrown(error: unknown): unknown {
  return error
}
