/** Runs, updates and fails with a client of @hey-api/openapi-ts. Prints what it received. */
import { client } from './portico/client.gen.js'
import {
  queryOrderProgress,
  runGreet,
  runOrder,
  signalOrderApprove,
  startOrder,
  updateOrderPriority,
} from './portico/index.js'

const { PORTICO_URL = 'http://localhost:3001', PORTICO_TOKEN = '' } = process.env
client.setConfig({ baseUrl: PORTICO_URL, auth: PORTICO_TOKEN })

const greeting = await runGreet({ body: { workflowName: 'greet', input: { name: 'Ada' } } })
const hello: string | null | undefined = greeting.data?.output

const orderId = crypto.randomUUID()
const started = await startOrder({
  body: { workflowName: 'order', workflowId: orderId, input: { orderId, amount: 250, card: '4242' } },
})
const path = { id: started.data?.workflowId ?? 'not started' }
const updated = await updateOrderPriority({ path, body: { payload: { level: 'high' } } })
const level: 'low' | 'normal' | 'high' | undefined = updated.data?.after
const queried = await queryOrderProgress({ path, body: {} })
const signaled = await signalOrderApprove({ path, body: { payload: { by: 'Grace' } } })

const declined = await runOrder({
  body: { workflowName: 'order', input: { orderId: crypto.randomUUID(), amount: 40, card: '0000' } },
})
const rejected = await runGreet({ body: { workflowName: 'greet', input: { name: '' } } })

console.log(
  JSON.stringify({
    hello,
    level,
    priority: queried.data?.priority,
    accepted: signaled.data?.accepted,
    failed: [declined.data?.status, declined.data?.errorDetails?.name],
    problem: [rejected.response?.status, rejected.error?.error, rejected.error?.issues?.[0]?.path],
  }),
)
