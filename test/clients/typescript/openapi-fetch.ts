/** Runs, updates and fails with a client of openapi-typescript and openapi-fetch. Prints what it received. */
import createClient from 'openapi-fetch'
import type { paths } from './portico.js'

const { PORTICO_URL = 'http://localhost:3001', PORTICO_TOKEN = '' } = process.env
const portico = createClient<paths>({ baseUrl: PORTICO_URL, headers: { Authorization: `Bearer ${PORTICO_TOKEN}` } })

const greeting = await portico.POST('/workflow/run#greet', { body: { workflowName: 'greet', input: { name: 'Ada' } } })
const hello: string | null | undefined = greeting.data?.output

const orderId = crypto.randomUUID()
const started = await portico.POST('/workflow/start#order', {
  body: { workflowName: 'order', workflowId: orderId, input: { orderId, amount: 250, card: '4242' } },
})
const path = { id: started.data?.workflowId ?? 'not started' }
const updated = await portico.POST('/workflow/{id}/update/priority#order', {
  params: { path },
  body: { payload: { level: 'high' } },
})
const level: 'low' | 'normal' | 'high' | undefined = updated.data?.after
const queried = await portico.POST('/workflow/{id}/query/progress#order', { params: { path }, body: {} })
const signaled = await portico.POST('/workflow/{id}/signal/approve#order', {
  params: { path },
  body: { payload: { by: 'Grace' } },
})

const declined = await portico.POST('/workflow/run#order', {
  body: { workflowName: 'order', input: { orderId: crypto.randomUUID(), amount: 40, card: '0000' } },
})
const rejected = await portico.POST('/workflow/run#greet', { body: { workflowName: 'greet', input: { name: '' } } })

console.log(
  JSON.stringify({
    hello,
    level,
    priority: queried.data?.priority,
    accepted: signaled.data?.accepted,
    failed: [declined.data?.status, declined.data?.errorDetails?.name],
    problem: [rejected.response.status, rejected.error?.error, rejected.error?.issues?.[0]?.path],
  }),
)
