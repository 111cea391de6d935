/**
 * Measures the latency of other requests, the memory and the engine calls while thousands of `run` requests wait,
 * and how late their responses are.
 */
import { callsDuring } from '../../dev/servers/engine-metrics.ts'
import { type CrowdResponse, startServiceWithCrowd } from '../../dev/servers/service-with-crowd.ts'
import { sleep } from '../../src/shared/lib/abort.ts'
import { call } from './call.ts'
import { measureInTurns, printRatio, printSample, toSample } from './measure.ts'

const COUNT = Number(process.argv[2] ?? 5000)
const TIMES = 300

// The engine holds a poll for 20 s.
const OBSERVED_MS = 20_000

const service = await startServiceWithCrowd()
try {
  const started = await call(service.url, 'POST', '/workflow/start', { workflowName: 'waitForSignal', input: null })
  // The first requests load code and grow the heap for good, so they are not measured.
  await (await service.gather(Math.ceil(COUNT / 20))).disperse()
  await measure(String(started.workflowId))
  const before = await service.inventory()
  const idle = await measure(String(started.workflowId))

  const startedAt = performance.now()
  const crowd = await service.gather(COUNT)
  const startsPerSecond = COUNT / ((performance.now() - startedAt) / 1000)
  const during = await service.inventory()
  const busy = await measure(String(started.workflowId))
  const calls = await callsDuring(service.engine.metricsUrl, () => sleep(OBSERVED_MS))
  const responses = await crowd.disperse()
  const after = await service.inventory()

  const failures = responses.filter((response) => !isAnswered(response))
  for (const { status, text } of failures.slice(0, 5)) console.log(`failure: ${status} ${text}`)
  console.log(`${COUNT} requests, ${startsPerSecond.toFixed(0)} started per second; ${failures.length} failed`)
  printSample('/health, idle', idle.health)
  printSample('/health, waiting', busy.health)
  printSample('status, idle', idle.status)
  printSample('status, waiting', busy.status)
  printRatio('median of /health, waiting to idle', busy.health.p50, idle.health.p50)
  printRatio('median of status, waiting to idle', busy.status.p50, idle.status.p50)
  printMemory('heap per waiting request', during.heapBytes - before.heapBytes)
  printMemory('resident memory per waiting request', during.rssBytes - before.rssBytes)
  console.log(
    `resident memory, MiB: ${[before, during, after].map(({ rssBytes }) => toMebibytes(rssBytes)).join(', ')}`,
  )
  console.log(`peak of the resident memory, MiB: ${toMebibytes(after.peakRssBytes)}`)
  printRatio('heap, after to before', after.heapBytes, before.heapBytes)
  for (const [name, count] of Object.entries(calls))
    console.log(`${name.padEnd(44)} ${(count / (OBSERVED_MS / 1000)).toFixed(1)} per second`)
  printSample('response after the end of the run', toSample(responses.map(({ delayMs }) => delayMs)))
} catch (error) {
  // Throws the output of the service if it has exited.
  await service.inventory()
  throw error
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

function isAnswered({ status, body, workflowId }: CrowdResponse): boolean {
  return status === 200 && body.workflowId === workflowId
}

function printMemory(title: string, bytes: number): void {
  console.log(`${title.padEnd(44)} ${(bytes / COUNT / 1024).toFixed(1)} KiB`)
}

function toMebibytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(0)
}
