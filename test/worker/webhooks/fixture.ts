/** A receiver of webhooks, and workers that send them. */
import { untilPolled } from '../../../dev/servers/worker.ts'
import { freePort } from '../../../src/cli/dev/servers/ports.ts'
import { deliveryQueue } from '../../../src/worker/closed-runs/webhooks/deliver.ts'
import { defineCatalog, parseWebhooksConfig, porticoPlugin, type Redact } from '../../../src/worker/index.ts'
import { test as baseTest } from '../../support/fixtures.ts'
import { newSecret, type Received, startWebhookReceiver } from '../../support/webhook-receiver.ts'

export const SECRET = newSecret()

export const NEW_SECRET = newSecret()

export const SECRETS = { SERVICE_WEBHOOK_TEST: SECRET, SERVICE_WEBHOOK_NEW: NEW_SECRET }

export const catalog = defineCatalog({ echo: {} })

interface Endpoint {
  workflows?: string[]
  on?: string[]
  include?: string[]
  url?: string
}

export const test = baseTest
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
      busy: { workflows: ['sleepFor'] },
      moved: { workflows: ['several'] },
      later: { workflows: ['hugeNumbers'] },
      canceled: { workflows: ['whoAmI'] },
      silent: { workflows: ['ownAttributes'] },
      stands: { workflows: ['failTask'], on: ['problem'], include: ['error'] },
      told: { workflows: ['fail*'], on: ['problem', 'terminated'] },
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

export const STATUS = { running: 1, completed: 2, failed: 3, canceled: 4 }

/** The messages at this path about a workflow. */
export function about(messages: readonly Received[], workflowId: string): Received[] {
  return messages.filter(({ body }) => body.includes(`"${workflowId}"`))
}
