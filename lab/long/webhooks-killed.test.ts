/** Worker and engine are killed while webhooks are pending: each message is still sent, and none is accepted twice. */
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, Connection } from '@temporalio/client'
import { expect } from 'vitest'
import { type RunningEngine, startEngine } from '../../dev/servers/engine.ts'
import { startWorkerProcess } from '../../dev/servers/traced-worker.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { test } from '../../test/support/fixtures.ts'
import { UNDISTURBED } from '../../test/support/undisturbed.ts'
import { newSecret, startWebhookReceiver, verified } from '../../test/support/webhook-receiver.ts'

const WORKER = new URL('../../test/worker/fixtures/worker.ts', import.meta.url)
const RUNS = 10

// Of an activity, in Temporal's API.
const COMPLETED = 2

// An engine that waits for a busy disk with each write takes long.
const FOLDERS = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

test('webhooks: a kill of worker and engine loses no message, and each is accepted once (threat 34) (failure 33)', async ({
  cleanup,
}) => {
  const folder = await mkdtemp(join(FOLDERS, 'portico-webhooks-'))
  cleanup.defer(() => rm(folder, { recursive: true, force: true }))
  const receiver = await startWebhookReceiver()
  cleanup.defer(() => receiver.close())
  let engine: RunningEngine = await startEngine({
    dbFile: join(folder, 'engine.sqlite'),
    dynamicConfig: UNDISTURBED,
  })
  cleanup.defer(() => engine.kill())
  const secret = newSecret()
  const endpointAt = (path: string) => ({ url: `${receiver.url}${path}`, secretEnv: ['SERVICE_WEBHOOK_TEST'] })
  const startWorker = async () => {
    const worker = await startWorkerProcess(WORKER, {
      ENGINE_ADDRESS: engine.address,
      SERVICE_CATALOG_ID: 'killed',
      SERVICE_WEBHOOK_TEST: secret,
      SERVICE_WEBHOOKS: JSON.stringify({
        version: 1,
        endpoints: { healthy: endpointAt('/healthy'), down: endpointAt('/down') },
      }),
    })
    cleanup.defer(async () => void (await worker.kill()))
    return worker
  }
  /** Runs workflows and returns their ids, once the engine knows that the healthy endpoint has accepted them. */
  const execute = async (count: number): Promise<string[]> => {
    const connection = await Connection.connect({ address: engine.address })
    const { workflow } = new Client({ connection })
    const ids = Array.from({ length: count }, () => `killed-${crypto.randomUUID()}`)
    const start = (workflowId: string) => workflow.start('echo', { taskQueue: 'killed', workflowId, args: ['it'] })
    for (const handle of await Promise.all(ids.map(start))) {
      await until('it is delivered', async () => {
        const activityId = `$webhook:healthy:${handle.firstExecutionRunId}`
        const request = { namespace: 'default', activityId }
        const { info } = await connection.workflowService.describeActivityExecution(request)
        return info?.status === COMPLETED
      })
    }
    await connection.close()
    return ids
  }
  const requests = (path: string) => receiver.at(path).length
  const accepted = (path: string) =>
    receiver
      .at(path)
      .filter(({ status }) => status === 200)
      .map((message) => String(verified(message, secret).data.workflowId))
      .toSorted()

  receiver.answer('/down', () => ({ status: 503 }))
  const worker = await startWorker()
  const before = await execute(RUNS)
  await until('the other endpoint has rejected all', () => requests('/down') >= RUNS)
  await Promise.all([worker.kill(), engine.kill()])
  receiver.answer('/down', () => ({ status: 200 }))
  engine = await engine.restart()
  await startWorker()
  // Its message shows that closed runs are listed again, those of before among them.
  const after = await execute(1)
  await until('all are accepted', () =>
    ['/healthy', '/down'].every((path) => new Set(accepted(path)).size === RUNS + 1),
  )

  expect(accepted('/healthy')).toEqual([...before, ...after].toSorted())
  expect(accepted('/down')).toEqual([...before, ...after].toSorted())
})
