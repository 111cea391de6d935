/**
 * Runs the orders that failed within the last day once more, as docs/how-do-i.md shows.
 *
 * Reads PORTICO_URL (default http://127.0.0.1:3001) and PORTICO_TOKEN, if the server requires a token.
 */
import { createClient } from '../src/client/index.ts'

const { PORTICO_URL: url = 'http://127.0.0.1:3001', PORTICO_TOKEN: token } = process.env

const client = createClient({ url, token })
const orders = client.workflow('order')
const closedAfter = new Date(Date.now() - 24 * 3_600_000).toISOString()
for await (const { workflowId, runId, catalog } of client.list({
  workflowName: 'order',
  status: 'failed',
  closedAfter,
})) {
  const { args } = await orders.get({ workflowId, runId }).input()
  const again = await orders.start({ args, catalog, idempotencyKey: `rerun-${runId}` })
  console.log(`${workflowId} runs again as ${again.workflowId}`)
}
