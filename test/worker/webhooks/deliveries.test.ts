/** How often a worker sends a webhook, and what a receiver can do to the others. */
import { expect } from 'vitest'
import { listenToWorkerLog } from '../../../dev/servers/worker.ts'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { parseWebhooksConfig, porticoPlugin } from '../../../src/worker/index.ts'
import { testWithOwnEngine } from '../../support/fixtures.ts'
import { type Received, startWebhookReceiver, verified } from '../../support/webhook-receiver.ts'
import { about, catalog, SECRET, SECRETS, STATUS, test } from './fixture.ts'

test('webhooks: receivers that hang or cannot be reached delay no other, and get at most 10 messages at once (threat 34)', async ({
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
  const refused = await until('the first attempt has failed', async () => {
    const found = await delivery('refuses', runs[0]?.runId ?? '')
    return found.reason !== undefined && found
  })
  expect(refused).toEqual({
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

test('webhooks: a message that failed is sent again with the same id and body, until one 200 (threat 34)', async ({
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

test('webhooks: Retry-After delays the next attempt, as seconds or as a date, at most an hour, and never makes it earlier', async ({
  receiver,
  run,
  connection,
  delivery,
}) => {
  const header = new Map<string, string>()
  receiver.answer('/busy', () => ({ status: 429, retryAfter: header.get('value') ?? '' }))
  const delayAfter = async (value: string) => {
    header.set('value', value)
    const { runId } = await run('sleepFor', [{ ms: 1 }])
    await until('its first attempt has failed', async () => (await delivery('busy', runId)).reason)
    const { info } = await connection.workflowService.describeActivityExecution({
      namespace: 'default',
      activityId: `$webhook:busy:${runId}`,
    })
    return info?.currentRetryInterval?.seconds?.toNumber()
  }

  const delays = [await delayAfter('20'), await delayAfter(new Date(Date.now() + 90_500).toUTCString())]
  const others = [await delayAfter('86400'), await delayAfter('1'), await delayAfter('soon'), await delayAfter('-7')]

  expect(delays[0]).toBe(20)
  expect(delays[1]).toBeGreaterThan(20)
  expect(delays[1]).toBeLessThanOrEqual(90)
  expect(others).toEqual([3600, 5, 5, 5])
})

test('webhooks: a 410 ends the delivery (threat 34)', async ({ receiver, run, delivery }) => {
  receiver.answer('/gone', () => ({ status: 410 }))
  const { workflowId, runId } = await run('nothing')

  await until('it has ended', async () => (await delivery('gone', runId)).status === STATUS.failed)

  expect(about(receiver.at('/gone'), workflowId)).toHaveLength(1)
  expect((await delivery('gone', runId)).reason).toBe('The receiver responded with 410')
})

test('webhooks: redirects are not followed (threat 74)', async ({ receiver, run, delivery }) => {
  receiver.answer('/moved', (attempt) =>
    attempt === 1 ? { status: 307, location: `${receiver.url}/elsewhere` } : { status: 200 },
  )
  const { workflowId, runId } = await run('several', [1])

  await until('it is delivered', async () => (await delivery('moved', runId)).status === STATUS.completed)

  expect(about(receiver.at('/moved'), workflowId).map(({ status }) => status)).toEqual([307, 200])
  expect(receiver.at('/elsewhere')).toEqual([])
})

test('webhooks: a delivery that is canceled in the engine sends nothing more', async ({
  receiver,
  run,
  connection,
  delivery,
}) => {
  receiver.answer('/canceled', () => ({ status: 503 }))
  const { workflowId, runId } = await run('whoAmI')
  await until('its first attempt has failed', async () => (await delivery('canceled', runId)).reason)

  await connection.workflowService.requestCancelActivityExecution({
    namespace: 'default',
    activityId: `$webhook:canceled:${runId}`,
    requestId: crypto.randomUUID(),
    reason: 'test',
  })

  await until('it is canceled', async () => (await delivery('canceled', runId)).status === STATUS.canceled)
  expect(about(receiver.at('/canceled'), workflowId)).toHaveLength(1)
})

test('webhooks: a worker that stops leaves a message that hangs to the next worker (threat 34)', async ({
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
