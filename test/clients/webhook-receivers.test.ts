/** The receivers of examples/webhook-receivers/ in TypeScript and Python, with a real delivery. */
import { readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { startProcess } from '../../dev/servers/process.ts'
import { untilPolled } from '../../dev/servers/worker.ts'
import { ensureComponent } from '../../src/cli/dev/servers/component.ts'
import { freePort } from '../../src/cli/dev/servers/ports.ts'
import type { RunningProcess } from '../../src/cli/dev/servers/process.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { deliveryQueue } from '../../src/worker/closed-runs/webhooks/deliver.ts'
import { defineCatalog, parseWebhooksConfig, porticoPlugin } from '../../src/worker/index.ts'
import { test as baseTest } from '../support/fixtures.ts'
import { pythonEnvironment, pythonPackage } from '../support/python-package.ts'
import { newSecret } from '../support/webhook-receiver.ts'

const requirements = await readFile(new URL('./python/webhooks.requirements.txt', import.meta.url), 'utf8')

const pythonLibrary = pythonPackage({
  name: 'standardwebhooks',
  version: /^standardwebhooks==(\S+)/m.exec(requirements)?.[1] ?? 'unknown',
  project: 'standardwebhooks',
  module: 'standardwebhooks.webhooks',
  requirements,
})

interface Program {
  command: string
  file: string
  env?: NodeJS.ProcessEnv
}

const test = baseTest
  /** Starts the program, sends it the message about a run, and returns what the engine says about the delivery. */
  .extend('deliverTo', { scope: 'file' }, ({ client, connection, startWorker, folder, cleanup }) => {
    return async ({ command, file, env }: Program) => {
      const secret = newSecret()
      const port = await freePort()
      const receiver = await startProcess({
        command,
        args: [file],
        cwd: folder,
        env: { ...process.env, ...env, WEBHOOK_SECRET: secret, PORT: String(port) },
      })
      cleanup.defer(async () => void (await receiver.kill()))
      const url = `http://127.0.0.1:${port}/hooks`
      await until('it listens', () => fetch(url, { method: 'POST', body: '{}' }).then(() => true))

      const taskQueue = `receivers-${crypto.randomUUID()}`
      const endpoints = { test: { url, secretEnv: ['SERVICE_WEBHOOK_TEST'] } }
      const webhooks = parseWebhooksConfig({
        SERVICE_WEBHOOK_TEST: secret,
        SERVICE_WEBHOOKS: JSON.stringify({ version: 1, endpoints }),
      })
      const plugin = porticoPlugin({ catalog: defineCatalog({ echo: {} }), webhooks }, { archiveEveryMs: 200 })
      await startWorker({ taskQueue, options: { plugins: [plugin] } })
      await untilPolled(connection, 'default', deliveryQueue('test', taskQueue), 'activities')
      const workflowId = `Zoë-${crypto.randomUUID()}`
      const handle = await client.workflow.start('echo', { taskQueue, workflowId, args: ['it'] })
      const activityId = `$webhook:test:${handle.firstExecutionRunId}`
      const attempt = await until('it is delivered', async () => {
        const request = { namespace: 'default', activityId, includeOutcome: true }
        const { info, outcome } = await connection.workflowService.describeActivityExecution(request)
        return outcome?.result && info?.attempt
      })
      const forged = await fetch(url, {
        method: 'POST',
        headers: { 'webhook-id': 'msg_1', 'webhook-timestamp': '1', 'webhook-signature': 'v1,AAAA' },
        body: JSON.stringify({ type: 'workflow.completed', data: { workflowId: 'forged' } }),
      })
      return { receiver, workflowId, attempt, forgedStatus: forged.status }
    }
  })

interface Delivered {
  receiver: RunningProcess
  workflowId: string
  attempt: number
  forgedStatus: number
}

async function expectAccepted({ receiver, workflowId, attempt, forgedStatus }: Delivered): Promise<void> {
  expect(attempt).toBe(1)
  await until('it has printed the message', () => receiver.output().includes(`workflow.completed ${workflowId}`))
  expect([forgedStatus, receiver.output().includes('forged')]).toEqual([401, false])
}

test('webhooks: the receiver in TypeScript accepts a delivery, and rejects a forged one (threat 73)', async ({
  folder,
  deliverTo,
}) => {
  await writeFile(join(folder, 'receiver.ts'), await receiver('receiver.ts'))
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  await symlink(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(folder, 'node_modules'))

  await expectAccepted(await deliverTo({ command: process.execPath, file: 'receiver.ts' }))
})

test('webhooks: the receiver in Python accepts a delivery, and rejects a forged one (threat 73)', async ({
  folder,
  deliverTo,
}) => {
  const program = await receiver('receiver.py')
  await writeFile(join(folder, 'receiver.py'), program)
  const env = { ...pythonEnvironment(await ensureComponent(pythonLibrary)), PYTHONIOENCODING: 'utf-8' }

  await expectAccepted(await deliverTo({ command: 'python3', file: 'receiver.py', env }))
})

function receiver(name: string): Promise<string> {
  return readFile(new URL(`../../examples/webhook-receivers/${name}`, import.meta.url), 'utf8')
}
