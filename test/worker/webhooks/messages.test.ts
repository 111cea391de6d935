import Long from 'long'
import { expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import type { Redact } from '../../../src/worker/index.ts'
import { type Received, verified } from '../../support/webhook-receiver.ts'
import { startArchiver } from '../start-archiver.ts'
import { about, NEW_SECRET, SECRET, STATUS, test } from './fixture.ts'

test('webhooks: a message is signed with each secret, and names the run (threat 73)', async ({
  receiver,
  run,
  catalog,
}) => {
  const { workflowId, runId } = await run('echo', [{ id: 1 }])

  const [message] = await until('it has arrived', () => {
    const messages = about(receiver.at('/thin'), workflowId)
    return messages.length > 0 && messages
  })

  const body = verified(message as Received, SECRET)
  expect(verified(message as Received, NEW_SECRET)).toEqual(body)
  expect(message?.headers).toMatchObject({ 'content-type': 'application/json', 'webhook-id': `msg_${runId}_thin` })
  expect(body).toEqual({
    type: 'workflow.completed',
    timestamp: body.data.completedAt,
    data: {
      namespace: 'default',
      workflowId,
      runId,
      workflowName: 'echo',
      catalog,
      status: 'completed',
      startedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      completedAt: expect.stringMatching(/^\d{4}-.*Z$/),
    },
  })
})

test.for([
  ['continue-as-new', 'chain', [{ links: 3 }], { links: 3, link: 3 }],
  ["the engine's retries", 'retriedRun', [{ succeedsAt: 2 }], 2],
] as const)(
  'webhooks: a chain by %s gets one message, about its last run',
  async ([_, workflowName, args, output], { receiver, client, catalog: taskQueue, sender: __ }) => {
    const workflowId = `${workflowName}-${crypto.randomUUID()}`
    const retry = { maximumAttempts: 3, initialInterval: '100ms' }
    const handle = await client.workflow.start(workflowName, { taskQueue, workflowId, args: [...args], retry })
    await handle.result()
    const { runId } = await client.workflow.getHandle(workflowId).describe()

    await until('its message has arrived', () => about(receiver.at('/full'), workflowId).length > 0)

    const messages = about(receiver.at('/full'), workflowId)
    expect(messages.map((message) => verified(message, SECRET).data)).toEqual([
      expect.objectContaining({ runId, status: 'completed', output }),
    ])
    expect(runId).not.toBe(handle.firstExecutionRunId)
  },
)

test('webhooks: a run that a reset continues gets no message', async ({
  receiver,
  client,
  connection,
  catalog: taskQueue,
  delivery,
  sender: _,
}) => {
  const workflowId = `reset-${crypto.randomUUID()}`
  const { firstExecutionRunId } = await client.workflow.start('waitForSignal', { taskQueue, workflowId })
  const handle = client.workflow.getHandle(workflowId)
  await until('its first task is done', async () => (await handle.describe()).historyLength > 3)
  const { runId } = await connection.workflowService.resetWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId, runId: firstExecutionRunId },
    reason: 'test',
    requestId: crypto.randomUUID(),
    workflowTaskFinishEventId: Long.fromNumber(4),
  })
  await client.workflow.getHandle(workflowId, runId).signal('finish', 'the end')

  await until('the message of the new run has arrived', () => about(receiver.at('/full'), workflowId).length > 0)
  await until('the delivery of the old run has ended', async () => {
    return (await delivery('full', firstExecutionRunId)).status === STATUS.completed
  })

  const messages = about(receiver.at('/full'), workflowId)
  expect(messages.map((message) => verified(message, SECRET).data)).toEqual([
    expect.objectContaining({ runId, status: 'completed' }),
  ])
})

test.for(['failInActivity', 'failWithCauses', 'failWrapped', 'failInChild'])(
  'webhooks: the error of %s is sent without a stack trace (threat 74)',
  async (workflowName, { receiver, run }) => {
    const { workflowId } = await run(workflowName)

    const messages = await until('it has arrived', () => {
      const found = about(receiver.at('/full'), workflowId)
      return found.length > 0 && found
    })

    const { data } = verified(messages[0] as Received, SECRET)
    expect(data).toMatchObject({ status: 'failed', error: { name: expect.any(String), message: expect.any(String) } })
    expect(messages[0]?.body).not.toMatch(/stack|\bat .*:\d+|file:|\.ts\b|node_modules|@\w+/i)
  },
)

test('webhooks: a run whose workflow task fails again and again is reported once, without values by default (threat 74)', async ({
  receiver,
  client,
  catalog: taskQueue,
  delivery,
  sender: _,
}) => {
  const workflowId = `stands-${crypto.randomUUID()}`
  // The engine sets the attribute after five attempts, each of which takes the timeout.
  const options = { taskQueue, workflowId, workflowTaskTimeout: '1s' }
  const { firstExecutionRunId: runId } = await client.workflow.start('failTask', options)

  const [withError] = await until('it is reported', () => arrived(about(receiver.at('/stands'), workflowId)), {
    timeoutMs: 60_000,
  })
  const [plain] = await until('the other endpoint is told too', () => arrived(about(receiver.at('/told'), workflowId)))
  await client.workflow.getHandle(workflowId).terminate()
  await until('its end is reported', () => about(receiver.at('/told'), workflowId).length > 1)

  const body = verified(withError as Received, SECRET)
  expect(withError?.headers).toMatchObject({ 'webhook-id': `msg_${runId}_stands_problem_0` })
  expect(body).toEqual({
    type: 'workflow.problem',
    timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
    data: {
      namespace: 'default',
      workflowId,
      runId,
      workflowName: 'failTask',
      catalog: taskQueue,
      status: 'running',
      startedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      completedAt: null,
      problem: { kind: 'workflow_task_failing', since: body.timestamp },
      error: { name: 'Error', message: 'a bug in the workflow', details: [], cause: null },
    },
  })
  expect(verified(plain as Received, SECRET).data).not.toHaveProperty('error')
  expect(about(receiver.at('/told'), workflowId).map((message) => verified(message, SECRET).type)).toEqual([
    'workflow.problem',
    'workflow.terminated',
  ])
  expect(about(receiver.at('/stands'), workflowId)).toHaveLength(1)
  expect((await delivery('stands', `${runId}:problem:0`)).status).toBe(STATUS.completed)
})

function arrived(messages: Received[]): Received[] | null {
  return messages.length > 0 ? messages : null
}

test('webhooks: values are redacted by the worker, and masked by processes without its redact (threat 74)', async ({
  engine: { address },
  receiver,
  client,
  cleanup,
  startSender,
  webhooksEnv,
}) => {
  const queue = `redacted-${crypto.randomUUID()}`
  const redact: Redact = (_path, value) => (value === 'confidential' ? 'hidden by redact' : value)
  const worker = await startSender({ redacted: { include: ['output', 'error'] } }, { queue, redact })
  const byWorker = `by-worker-${crypto.randomUUID()}`
  const input = { text: 'confidential', other: 1 }
  await client.workflow.execute('echo', { taskQueue: queue, workflowId: byWorker, args: [input] })
  await until('the worker has sent it', () => about(receiver.at('/redacted'), byWorker).length > 0)

  // A run whose message a second process sends: `portico archive` with an endpoint that the worker does not have.
  const archiver = await startArchiver(cleanup, queue, {
    ENGINE_ADDRESS: address,
    ...webhooksEnv({ masked: { include: ['output', 'error'] } }),
  })
  await until('it sends webhooks', () => archiver.output().includes('Sending webhooks'))
  await worker.stop()
  const plain = await startSender({}, { queue, redact })
  const byArchiver = `by-archiver-${crypto.randomUUID()}`
  await client.workflow.execute('echo', { taskQueue: queue, workflowId: byArchiver, args: [input] })
  await until('the other process has sent it', () => about(receiver.at('/masked'), byArchiver).length > 0)
  await plain.stop()

  const outputs = [...about(receiver.at('/redacted'), byWorker), ...about(receiver.at('/masked'), byArchiver)].map(
    (message) => verified(message, SECRET).data.output,
  )
  expect(outputs).toEqual([{ text: 'hidden by redact', other: 1 }, '[redacted]'])
  process.kill(archiver.pid, 'SIGTERM')
  expect(await archiver.ended).toMatchObject({ code: 0 })
})
