/**
 * Uses `portico/client` with the types of the workflows in this folder, as docs/client.md shows.
 *
 * Reads PORTICO_URL (default http://127.0.0.1:3001) and PORTICO_TOKEN, if the server requires a token.
 */
import { createClient, PorticoError } from '../src/client/index.ts'
import type { WorkflowTypesOf } from '../src/worker/index.ts'
import type * as workflows from './workflows.ts'

const { PORTICO_URL: url = 'http://127.0.0.1:3001', PORTICO_TOKEN: token } = process.env

const client = createClient<WorkflowTypesOf<typeof workflows>>({ url, token })

const greeting = await client.run('greet', { input: { name: 'Ada' } })
console.log(greeting)

const longer = await client.run('greet', { args: [{ name: 'Ada' }, 'Good morning'] })
console.log(longer)

const greet = createClient({ url, token }).workflow<typeof workflows.greet>('greet')
console.log(await greet.run({ input: { name: 'Grace' } }))

const orderId = `order-${crypto.randomUUID()}`
const orders = client.workflow('order')

const order = await orders.start({ workflowId: orderId, input: { orderId, amount: 250, card: '4242' } })
const { before, after } = await order.update('priority', { payload: { level: 'high' } })
const { stage } = await order.query('progress')
console.log(`${before} to ${after}`, typeof stage)
await order.signal('approve', { payload: { by: 'Grace' } })

const { shipmentId } = await orders.get(orderId).result()
console.log(shipmentId === `shipment-${orderId}-high`)

try {
  await orders.run({ input: { orderId, amount: 20, card: '0000' } })
} catch (error) {
  if (!(error instanceof PorticoError)) throw error
  console.log(error.error, error.result?.errorDetails?.name)
}

const guests = Array.from({ length: 100 }, (_, index) => `guest-${index}`).values()
let started = 0
async function startNext() {
  for (const name of guests) {
    await greet.start({ input: { name }, idempotencyKey: `welcome-${orderId}-${name}` })
    started++
  }
}
await Promise.all(Array.from({ length: 32 }, startNext))
console.log(started)

const ended = await orders.runSettled({ input: { orderId, amount: 20, card: '0000' } })
if (ended.status === 'completed') console.log(ended.output.shipmentId)
else console.log(ended.status, ended.error)

const stopped = await orders.start({
  input: { orderId, amount: 250, card: '4242' },
  idempotencyKey: `checkout-${orderId}`,
  executionTimeout: '1h',
  memo: { channel: 'web' },
})
const waiting = await stopped.result({ timeoutMs: 500 }).catch((error) => error.error)
const { verdict } = await stopped.explain()
const { cancelRequested } = await stopped.stop({ reason: 'The customer has changed her mind' })
console.log(waiting, typeof verdict, cancelRequested)

for await (const { eventId, eventType } of stopped.history({ follow: true })) {
  if (eventType === 'WorkflowExecutionCanceled') console.log(eventType, eventId > 1)
}

const { runs } = await client.list({ workflowName: 'order', pageSize: 10 }).page()
const open: string[] = []
for await (const run of client.list({ workflowName: 'order', status: 'running' })) open.push(run.workflowId)
console.log(runs.length <= 10, open.includes(orderId))
