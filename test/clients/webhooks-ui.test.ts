/** A webhook that waits for its receiver, in Temporal's web UI: docs/webhooks.md. */
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { defineCatalog, parseWebhooksConfig, porticoPlugin } from '../../src/worker/index.ts'
import { testWithOwnEngine } from '../support/fixtures.ts'
import { newSecret, startWebhookReceiver } from '../support/webhook-receiver.ts'

// A busy machine takes a minute to start the browser, or to load the page.
const STEP_TIMEOUT_MS = 120_000
const PATIENT = { timeout: 600_000 }

// Of an activity, in Temporal's API.
const CANCELED = 4

const test = testWithOwnEngine({ withUi: true })

test(
  'webhooks: the web UI of Temporal shows a pending message with the last response, and cancels it',
  PATIENT,
  async ({ engine, browser, client, connection, catalog: taskQueue, startWorker, cleanup }) => {
    const receiver = await startWebhookReceiver()
    cleanup.defer(() => receiver.close())
    receiver.answer('/', () => ({ status: 503 }))
    const endpoints = { billing: { url: receiver.url, secretEnv: ['SERVICE_WEBHOOK_TEST'] } }
    const webhooks = parseWebhooksConfig({
      SERVICE_WEBHOOK_TEST: newSecret(),
      SERVICE_WEBHOOKS: JSON.stringify({ version: 1, endpoints }),
    })
    const plugin = porticoPlugin({ catalog: defineCatalog({ echo: {} }), webhooks }, { archiveEveryMs: 200 })
    await startWorker({ options: { plugins: [plugin] } })
    const run = await client.workflow.start('echo', { taskQueue, workflowId: 'order-17', args: [1] })
    await until('the receiver has rejected it', () => receiver.received.some(({ status }) => status === 503))
    const activityId = `$webhook:billing:${run.firstExecutionRunId}`
    const page = await browser.newPage({ viewport: { width: 1400, height: 1000 } })
    page.setDefaultTimeout(STEP_TIMEOUT_MS)

    await page.goto(`${engine.uiUrl}/namespaces/default/activities`)
    await page.click(`a:has-text("${activityId}")`)
    await page.waitForSelector('text=The receiver responded with 503')
    await page.click('button:has-text("More Actions")')
    await page.click('text=Request Cancellation')
    await page.click('button:visible:has-text("Confirm")')

    const status = async () =>
      (await connection.workflowService.describeActivityExecution({ namespace: 'default', activityId })).info?.status
    await until('it is canceled', async () => (await status()) === CANCELED)
    await page.close()
    expect(receiver.received.filter(({ status }) => status === 200)).toEqual([])
  },
)
