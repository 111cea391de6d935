/** Measures the latency of other requests, and the memory, while 500 `run` requests wait. */
import { openPolls } from '../dev/servers/engine-metrics.ts'
import { startServiceWithWaiters } from '../dev/servers/service-with-waiters.ts'
import { until } from '../dev/servers/until.ts'
import { call } from './call.ts'
import { measureInTurns, printRatio, printSample } from './measure.ts'

const COUNT = Number(process.argv[2] ?? 500)
const TIMES = 300

const service = await startServiceWithWaiters()
try {
  const started = await call(service.url, 'POST', '/workflow/start', { workflowName: 'waitForSignal', input: null })
  // The first requests load code and grow the heap for good, so they are not measured.
  await (await service.wait(COUNT)).finish()
  await untilNoPolls()
  await measure(String(started.workflowId))
  const before = await service.inventory()
  const idle = await measure(String(started.workflowId))

  const waiting = await service.wait(COUNT)
  await untilStarted(waiting.workflowIds)
  const during = await service.inventory()
  const busy = await measure(String(started.workflowId))
  const responses = await waiting.finish()
  await untilNoPolls()
  const after = await service.inventory()

  printSample('/health, idle', idle.health)
  printSample(`/health, ${COUNT} waiting`, busy.health)
  printSample('status, idle', idle.status)
  printSample(`status, ${COUNT} waiting`, busy.status)
  printRatio('median of /health, waiting to idle', busy.health.p50, idle.health.p50)
  printRatio('median of status, waiting to idle', busy.status.p50, idle.status.p50)
  printRatio('heap, waiting to before', during.heapBytes, before.heapBytes)
  printRatio('heap, after to before', after.heapBytes, before.heapBytes)
  printRatio('resident memory, after to before', after.rssBytes, before.rssBytes)
  console.log(`${responses.filter(({ status }) => status !== 200).length} of ${COUNT} failed`)
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

/** Waits until the worker has processed the first task of each run, so that this is not measured. */
async function untilStarted(workflowIds: string[]): Promise<void> {
  for (const id of workflowIds) {
    await until(
      `${id} has started`,
      async () => Number((await call(service.url, 'GET', `/workflow/${id}/status`)).historyLength) >= 4,
      { timeoutMs: 60_000 },
    )
  }
}

async function untilNoPolls(): Promise<void> {
  await until('no long poll is open', async () => (await openPolls(service.engine.metricsUrl)) === 0, {
    timeoutMs: 30_000,
    everyMs: 250,
  })
}
