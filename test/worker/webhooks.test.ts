/** Webhooks of a worker: who gets which message, how often, and what the receiver can do to the others. */
import { fileURLToPath } from 'node:url'
import Long from 'long'
import { expect } from 'vitest'
import { listenToWorkerLog, untilPolled } from '../../dev/servers/worker.ts'
import { freePort } from '../../src/cli/dev/servers/ports.ts'
import { startProcess } from '../../src/cli/dev/servers/process.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { defineCatalog, parseWebhooksConfig, porticoPlugin, type Redact } from '../../src/worker/index.ts'
import { deliveryQueue } from '../../src/worker/webhooks/engine.ts'
import { test as baseTest, testWithOwnEngine } from '../support/fixtures.ts'
import { newSecret, type Received, startWebhookReceiver, verified } from '../support/webhook-receiver.ts'

const SECRET = newSecret()
const NEW_SECRET = newSecret()
const SECRETS = { SERVICE_WEBHOOK_TEST: SECRET, SERVICE_WEBHOOK_NEW: NEW_SECRET }

const catalog = defineCatalog({ echo: {} })

interface Endpoint {
  workflows?: string[]
  on?: string[]
  include?: string[]
  url?: string
}

const test = baseTest
  .extend('receiver', { scope: 'file' }, async ({ cleanup }) => {
    const receiver = await startWebhookReceiver()
    cleanup.defer(() => receiver.close())
    return receiver
  })
  /** The environment of a worker with these endpoints, each at the path of its name. */
  .extend('webhooksEnv', { scope: 'file' }, ({ receiver }) => (endpoints: Record<string, Endpoint>) => {
    const all = Object.entries(endpoints).map(([name, endpoint]) => [
      name,
      {
        url: `${receiver.url}/${name}`,
        secretEnv: ['SERVICE_WEBHOOK_TEST', 'SERVICE_WEBHOOK_NEW'],
        ...endpoint,
      },
    ])
    return { ...SECRETS, SERVICE_WEBHOOKS: JSON.stringify({ version: 1, endpoints: Object.fromEntries(all) }) }
  })
  /** Starts a worker that sends webhooks. Resolves when it can. */
  .extend('startSender', { scope: 'file' }, ({ startWorker, webhooksEnv, connection, catalog: taskQueue }) => {
    return async (endpoints: Record<string, Endpoint>, { queue = taskQueue, redact }: SenderOptions = {}) => {
      const webhooks = parseWebhooksConfig(webhooksEnv(endpoints))
      const plugin = porticoPlugin({ catalog, webhooks, ...(redact && { redact }) }, { archiveEveryMs: 200 })
      const worker = await startWorker({ taskQueue: queue, options: { plugins: [plugin] } })
      for (const name of Object.keys(endpoints))
        await untilPolled(connection, 'default', deliveryQueue(name, queue), 'activities')
      return worker
    }
  })
  /** One worker with endpoints for most tests. They differ in their workflows, so that no test disturbs another. */
  .extend('sender', { scope: 'file' }, async ({ startSender }) =>
    startSender({
      full: { workflows: ['echo', 'chain', 'fail*', 'retriedRun', 'waitForSignal'], include: ['output', 'error'] },
      thin: { workflows: ['echo'], on: ['completed'] },
      refuses: { workflows: ['echo'], url: `http://127.0.0.1:${await freePort()}` },
      hangs: { workflows: ['echo'] },
      gone: { workflows: ['nothing'] },
      moved: { workflows: ['several'] },
      later: { workflows: ['hugeNumbers'] },
      canceled: { workflows: ['whoAmI'] },
      silent: { workflows: ['ownAttributes'] },
    }),
  )
  .extend('run', { scope: 'file' }, ({ client, catalog: taskQueue, sender: _ }) => {
    return async (workflowName: string, args: unknown[] = [], queue = taskQueue) => {
      const workflowId = `${workflowName}-${crypto.randomUUID()}`
      const handle = await client.workflow.start(workflowName, { taskQueue: queue, workflowId, args })
      await handle.result().catch(() => {})
      return { workflowId, runId: handle.firstExecutionRunId }
    }
  })
  /** What the engine says about a delivery. */
  .extend('delivery', { scope: 'file' }, ({ connection }) => async (endpoint: string, runId: string) => {
    const { info, outcome } = await connection.workflowService.describeActivityExecution({
      namespace: 'default',
      activityId: `$webhook:${endpoint}:${runId}`,
      includeOutcome: true,
      includeLastFailure: true,
    })
    return { status: info?.status, reason: (outcome?.failure ?? info?.lastFailure)?.message }
  })

interface SenderOptions {
  queue?: string
  redact?: Redact
}

const STATUS = { running: 1, completed: 2, failed: 3, canceled: 4 }

/** The messages at this path about a workflow. */
function about(messages: readonly Received[], workflowId: string): Received[] {
  return messages.filter(({ body }) => body.includes(`"${workflowId}"`))
}

test('webhooks: a message is signed with each secret, and names the run', async ({ receiver, run, catalog }) => {
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

test('webhooks: receivers that hang or refuse delay no other, and get at most 10 messages at once', async ({
  receiver,
  run,
  delivery,
}) => {
  const released = Promise.withResolvers<{ status: number }>()
  receiver.answer('/hangs', () => released.promise)

  const runs = await Promise.all(Array.from({ length: 15 }, (_, index) => run('echo', [index])))

  const hasEach = (path: string) =>
    runs.every(({ workflowId }) => about(receiver.at(path), workflowId).some(({ status }) => status === 200))
  await until('the others have each message', () => hasEach('/full') && hasEach('/thin'))
  await until('the receiver that hangs has as many as it may', () => receiver.open('/hangs').most >= 10)
  expect(await delivery('refuses', runs[0]?.runId ?? '')).toEqual({
    status: STATUS.running,
    reason: 'The receiver could not be reached (ECONNREFUSED)',
  })
  expect(hasEach('/hangs')).toBe(false)
  released.resolve({ status: 200 })
  await until('it has each message too', () => hasEach('/hangs'))

  expect(receiver.open('/hangs').most).toBe(10)
  const sent = runs.map(({ workflowId }) => about(receiver.at('/full'), workflowId).map(({ status }) => status))
  expect(sent).toEqual(runs.map(() => [200]))
})

test('webhooks: a message that failed is sent again with the same id and body, until one 200', async ({
  receiver,
  run,
  delivery,
}) => {
  receiver.answer('/later', (attempt) => ({ status: attempt === 1 ? 503 : 200 }))
  const { workflowId, runId } = await run('hugeNumbers')

  await until('it is delivered', async () => (await delivery('later', runId)).status === STATUS.completed)

  const [first, second, ...others] = about(receiver.at('/later'), workflowId)
  expect([first?.status, second?.status, others]).toEqual([503, 200, []])
  expect([second?.id, second?.body]).toEqual([first?.id, first?.body])
  expect(verified(second as Received, SECRET)).toBeTruthy()
})

test('webhooks: a receiver has 15 s to respond, and a message is sent again for 3 days, at most 12 h apart', async ({
  receiver,
  run,
  connection,
  delivery,
}) => {
  receiver.answer('/silent', () => null)
  const { runId } = await run('ownAttributes')

  const reason = await until('its first attempt has failed', async () => (await delivery('silent', runId)).reason)
  const { info } = await connection.workflowService.describeActivityExecution({
    namespace: 'default',
    activityId: `$webhook:silent:${runId}`,
  })

  expect(reason).toBe('The receiver did not respond within 15 s')
  expect(info?.status).toBe(STATUS.running)
  expect([info?.retryPolicy?.backoffCoefficient, info?.retryPolicy?.maximumAttempts]).toEqual([4, 0])
  const seconds = [info?.retryPolicy?.initialInterval, info?.retryPolicy?.maximumInterval, info?.scheduleToCloseTimeout]
  expect(seconds.map((duration) => duration?.seconds?.toNumber())).toEqual([5, 12 * 3600, 3 * 24 * 3600])
})

test('webhooks: a 410 ends the delivery', async ({ receiver, run, delivery }) => {
  receiver.answer('/gone', () => ({ status: 410 }))
  const { workflowId, runId } = await run('nothing')

  await until('it has ended', async () => (await delivery('gone', runId)).status === STATUS.failed)

  expect(about(receiver.at('/gone'), workflowId)).toHaveLength(1)
  expect((await delivery('gone', runId)).reason).toBe('The receiver responded with 410')
})

test('webhooks: redirects are not followed', async ({ receiver, run, delivery }) => {
  receiver.answer('/moved', (attempt) =>
    attempt === 1 ? { status: 307, location: `${receiver.url}/elsewhere` } : { status: 200 },
  )
  const { workflowId, runId } = await run('several', [1])

  await until('it is delivered', async () => (await delivery('moved', runId)).status === STATUS.completed)

  expect(about(receiver.at('/moved'), workflowId).map(({ status }) => status)).toEqual([307, 200])
  expect(receiver.at('/elsewhere')).toEqual([])
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
  'webhooks: the error of %s is sent without a stack trace',
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

test('webhooks: a delivery that is canceled in the engine sends nothing more', async ({
  receiver,
  run,
  connection,
  delivery,
}) => {
  receiver.answer('/canceled', () => ({ status: 503 }))
  const { workflowId, runId } = await run('whoAmI')
  await until('its first attempt has failed', () => about(receiver.at('/canceled'), workflowId)[0]?.status === 503)

  await connection.workflowService.requestCancelActivityExecution({
    namespace: 'default',
    activityId: `$webhook:canceled:${runId}`,
    requestId: crypto.randomUUID(),
    reason: 'test',
  })

  await until('it is canceled', async () => (await delivery('canceled', runId)).status === STATUS.canceled)
  expect(about(receiver.at('/canceled'), workflowId)).toHaveLength(1)
})

test('webhooks: values are redacted by the worker, and masked by processes without its redact', async ({
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
  const archiver = await startProcess({
    command: process.execPath,
    args: [fileURLToPath(new URL('./fixtures/archiver.ts', import.meta.url)), queue],
    env: {
      PATH: process.env.PATH,
      ENGINE_ADDRESS: address,
      ...webhooksEnv({ masked: { include: ['output', 'error'] } }),
    },
  })
  cleanup.defer(async () => void (await archiver.kill()))
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

test('webhooks: a worker that stops leaves a message that hangs to the next worker', async ({
  receiver,
  client,
  startSender,
}) => {
  const queue = `stopping-${crypto.randomUUID()}`
  receiver.answer('/stopping', (attempt) => (attempt === 1 ? null : { status: 200 }))
  const first = await startSender({ stopping: {} }, { queue })
  const workflowId = `stopping-${crypto.randomUUID()}`
  await client.workflow.execute('echo', { taskQueue: queue, workflowId, args: [1] })
  await until('the message hangs', () => receiver.open('/stopping').now === 1)

  await first.stop()

  await until('its connection is closed', () => receiver.open('/stopping').now === 0)
  const second = await startSender({ stopping: {} }, { queue })
  await until('the next worker has sent it', () => about(receiver.at('/stopping'), workflowId)[1]?.status === 200)
  await second.stop()
  expect(about(receiver.at('/stopping'), workflowId)).toHaveLength(2)
})

const testWithoutStandaloneActivities = testWithOwnEngine({ dynamicConfig: { 'activity.enableStandalone': false } })

testWithoutStandaloneActivities(
  'webhooks: without standalone activities nothing is sent, and the worker warns',
  async ({ client, catalog: taskQueue, startWorker, cleanup }) => {
    const receiver = await startWebhookReceiver()
    cleanup.defer(() => receiver.close())
    const messages: string[] = []
    cleanup.defer(listenToWorkerLog(({ level, message }) => void (level === 'WARN' && messages.push(message))))
    const endpoints = { test: { url: receiver.url, secretEnv: ['SERVICE_WEBHOOK_TEST'] } }
    const webhooks = parseWebhooksConfig({
      ...SECRETS,
      SERVICE_WEBHOOKS: JSON.stringify({ version: 1, endpoints }),
    })
    const worker = await startWorker({
      options: { plugins: [porticoPlugin({ catalog, webhooks }, { archiveEveryMs: 200 })] },
    })

    await client.workflow.execute('echo', { taskQueue, workflowId: `echo-${taskQueue}`, args: [1] })
    await until('it has warned', () => messages.some((message) => message.startsWith('Webhooks are not sent')))
    await worker.stop()

    expect(receiver.received).toEqual([])
  },
)
