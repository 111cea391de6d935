/** What do 500 runs that are waited for cost everybody else? */
import { openPolls } from '../dev/servers/engine-metrics.ts'
import { startServiceWithWaiters } from '../dev/servers/service-with-waiters.ts'
import { until } from '../dev/servers/until.ts'
import { call } from './call.ts'
import { measureInTurns, tell, tellRatio } from './measure.ts'

const COUNT = Number(process.argv[2] ?? 500)
const TIMES = 300

const service = await startServiceWithWaiters()
try {
  const started = await call(service.url, 'POST', '/workflow/start', { workflowName: 'waitForSignal', input: null })
  // What the first ones load and grow stays.
  await (await service.wait(COUNT)).finish()
  await noPolls()
  await measure(String(started.workflowId))
  const before = await service.inventory()
  const idle = await measure(String(started.workflowId))

  const waiting = await service.wait(COUNT)
  await begun(waiting.workflowIds)
  const during = await service.inventory()
  const busy = await measure(String(started.workflowId))
  const answers = await waiting.finish()
  await noPolls()
  const after = await service.inventory()

  tell('/health, idle', idle.health)
  tell(`/health, ${COUNT} waiting`, busy.health)
  tell('status, idle', idle.status)
  tell(`status, ${COUNT} waiting`, busy.status)
  tellRatio('median of /health, waiting to idle', busy.health.p50, idle.health.p50)
  tellRatio('median of status, waiting to idle', busy.status.p50, idle.status.p50)
  tellRatio('heap, waiting to before', during.heapBytes, before.heapBytes)
  tellRatio('heap, after to before', after.heapBytes, before.heapBytes)
  tellRatio('resident memory, after to before', after.rssBytes, before.rssBytes)
  console.log(`${answers.filter(({ status }) => status !== 200).length} of ${COUNT} failed`)
} finally {
  await service.stop()
}

async function measure(workflowId: string) {
  const [health, status] = await measureInTurns(
    TIMES,
    () => call(service.url, 'GET', '/health'),
    () => call(service.url, 'GET', `/workflow/${workflowId}/status`),
  )
  if (health === undefined || status === undefined) throw new Error('not measured')
  return { health, status }
}

/** Until the worker has done what is to be done at a start: else its engine is measured. */
async function begun(workflowIds: string[]): Promise<void> {
  for (const id of workflowIds) {
    await until(
      `${id} has begun`,
      async () => Number((await call(service.url, 'GET', `/workflow/${id}/status`)).historyLength) >= 4,
      { timeoutMs: 60_000 },
    )
  }
}

async function noPolls(): Promise<void> {
  await until('nothing is waited for', async () => (await openPolls(service.engine.metricsUrl)) === 0, {
    timeoutMs: 30_000,
    everyMs: 250,
  })
}
