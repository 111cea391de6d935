/** More requests than the engine takes in a second. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Answer, type Api, makeApi } from '../support/api.ts'
import { type RunningEngine, startEngine } from '../support/engine.ts'
import { type Served, serve } from '../support/serve.ts'
import { testCatalog } from '../support/test-catalog.ts'
import { until } from '../support/until.ts'
import { startWorker, type TestWorker } from '../support/worker.ts'

const CATALOG = 'hurried'

// A hundred a second, three times what the engine takes, while the runs end.
const HURRIED = 300

interface Seen {
  /** Of requests that ask for something new. */
  asked: Answer[]
  /** Of `run`s that were started before and go on. */
  waited: Answer[]
}

let engine: RunningEngine
let worker: TestWorker
let served: Served
let hurry: NodeJS.Timeout | undefined
let seen: Seen

beforeAll(async () => {
  engine = await startEngine({ dynamicConfig: { 'frontend.namespaceRPS': 30, 'frontend.namespaceBurstRatio': 1 } })
  worker = await startWorker({ address: engine.address, taskQueue: CATALOG, catalog: testCatalog })
  served = serve({ ENGINE_ADDRESS: engine.address, SERVICE_CATALOG_ID: CATALOG })
  seen = await hurryEngine(makeApi(served))
})

afterAll(async () => {
  clearInterval(hurry)
  await served?.close()
  await worker?.stop()
  await engine?.kill()
})

async function hurryEngine(api: Api): Promise<Seen> {
  await until('the catalog is published', async () => (await api.call('GET', '/workflow/catalog')).status === 200)
  const run = (workflowName: string, input: unknown, workflowId: string) =>
    api.call('POST', '/workflow/run', { workflowName, input, workflowId, timeout: '25s' })
  const waiting = [
    run('sleepFor', { ms: 1500 }, 'sleeps'),
    // Their ends have to be read as well: the last run of a chain for its input, a cancelled one for its reason.
    ...['chain-1', 'chain-2', 'chain-3'].map((id) => run('chain', { links: 2 }, id)),
    ...['stopped-1', 'stopped-2', 'stopped-3'].map((id) => run('cleansUp', { ms: 1000 }, id)),
  ]
  for (const id of ['stopped-1', 'stopped-2', 'stopped-3'])
    await until(`${id} is stopped`, async () => (await api.call('PATCH', `/workflow/${id}/stop`)).body.cancelRequested)

  const asked: Promise<Answer>[] = []
  hurry = setInterval(() => {
    asked.push(api.call('GET', '/workflow/sleeps/status'), api.call('GET', '/workflow/sleeps/result'))
    asked.push(api.call('POST', '/workflow/start', { workflowName: 'chain', input: { links: 1 }, workflowId: 'sleeps' }))
    if (asked.length > HURRIED) clearInterval(hurry)
  }, 30)
  const waited = await Promise.all(waiting)
  await until('it is over', () => asked.length > HURRIED)
  return { asked: await Promise.all(asked), waited }
}

test('rate: who asks for something new is told to come again in a second', () => {
  const refused = seen.asked.filter(({ status }) => status === 429)

  expect(refused.length).toBeGreaterThan(0)
  expect(refused.map(({ body, headers }) => [body.error, body.source, headers.get('Retry-After')])).toEqual(
    refused.map(() => ['ResourceExhaustedError', 'engine', '1']),
  )
})

test('rate: nobody gets another error for it', () => {
  const statuses = new Set(seen.asked.map(({ status }) => status))

  // A start of an id in use, a result that is not there yet.
  expect([...statuses].filter((status) => ![200, 409, 424, 429].includes(status))).toEqual([])
})

test('rate: every run that has started ends with its result', () => {
  expect(seen.waited.map(({ status, body }) => [status, body.status])).toEqual([
    [200, 'completed'],
    ...[1, 2, 3].map(() => [200, 'completed']),
    ...[1, 2, 3].map(() => [200, 'canceled']),
  ])
})
