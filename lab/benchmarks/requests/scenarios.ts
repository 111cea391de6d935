import { randomUUID } from 'node:crypto'
import type { Agent } from 'node:http'
import { type Exchange, exchange } from './load.ts'

export interface Scenario {
  name: string
  /** The request to Portico and to the floor. */
  next(): Exchange
  /** The request to the floor's server that uses the SDK's `workflow.execute`. */
  sdk?(): Exchange
  /** It is measured last, without a worker: executing runs would take the processors from what is measured. */
  needsNoWorker?: true
  /** The same over the engine's own HTTP API, where that has it in one call. */
  engineHttp?(): Exchange
}

const ENGINE = '/api/v1/namespaces/default/workflows'

/** The runs that the scenarios read, made through `port`. */
export async function createScenarios(port: number, catalog: string, agent: Agent): Promise<Scenario[]> {
  const post = async (path: string, body: unknown) =>
    JSON.parse(await exchange(port, { method: 'POST', path, body }, agent)) as { workflowId: string; runId: string }
  const greeting = { workflowName: 'greet', input: { name: 'Ada' } }
  const order = (amount: number) => ({ workflowName: 'order', input: { orderId: randomUUID(), amount, card: '4242' } })

  const open = (await post('/workflow/start', order(500))).workflowId
  const { workflowId: closed, runId } = await post('/workflow/run', order(50))
  // More than the service keeps in memory here (`lab/benchmarks/requests.ts`).
  const closedRuns: string[] = []
  for (let left = 200; left > 0; left--) closedRuns.push((await post('/workflow/run', greeting)).workflowId)
  let at = 0
  const nextClosed = () => closedRuns[at++ % closedRuns.length]

  const start = { taskQueue: { name: catalog }, workflowType: { name: 'greet' }, input: [{ name: 'Ada' }] }
  return [
    { name: 'health', next: () => ({ method: 'GET', path: '/health' }) },
    {
      name: 'status',
      next: () => ({ method: 'GET', path: `/workflow/${open}/status` }),
      engineHttp: () => ({ method: 'GET', path: `${ENGINE}/${open}` }),
    },
    {
      name: 'run',
      next: () => ({ method: 'POST', path: '/workflow/run', body: greeting }),
      sdk: () => ({ method: 'POST', path: '/sdk/run', body: greeting }),
    },
    {
      name: 'query',
      next: () => ({ method: 'POST', path: `/workflow/${open}/query/progress`, body: {} }),
      engineHttp: () => ({ method: 'POST', path: `${ENGINE}/${open}/query/progress`, body: {} }),
    },
    { name: 'result', next: () => ({ method: 'GET', path: `/workflow/${nextClosed()}/result` }) },
    { name: 'result again', next: () => ({ method: 'GET', path: `/workflow/${closed}/result` }) },
    {
      name: 'result again (run id)',
      next: () => ({ method: 'GET', path: `/workflow/${closed}/runs/${runId}/result` }),
    },
    { name: 'catalog', next: () => ({ method: 'GET', path: '/workflow/catalog' }) },
    { name: 'trace-log', next: () => ({ method: 'GET', path: `/workflow/${closed}/trace-log` }) },
    {
      name: 'list',
      next: () => ({ method: 'GET', path: '/workflow/runs?pageSize=20' }),
      engineHttp: () => ({ method: 'GET', path: `${ENGINE}?pageSize=20` }),
    },
    {
      name: 'start',
      needsNoWorker: true,
      next: () => ({ method: 'POST', path: '/workflow/start', body: greeting }),
      engineHttp: () => ({ method: 'POST', path: `${ENGINE}/${randomUUID()}`, body: start }),
    },
  ]
}
