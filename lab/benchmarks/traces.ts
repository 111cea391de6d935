/**
 * Measures what tracing adds to the latency of a run and to the worker's CPU time,
 * if the key-value store and the bucket are 200 ms away.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEngine } from '../../dev/servers/engine.ts'
import { cpuMsOf } from '../../dev/servers/process-usage.ts'
import { startRedis } from '../../dev/servers/redis.ts'
import { startRclone } from '../../dev/servers/s3.ts'
import { startServiceProcess } from '../../dev/servers/service.ts'
import { startTcpProxy } from '../../dev/servers/tcp-proxy.ts'
import { bundleWorkflows, startWorkerProcess, tracedEnv } from '../../dev/servers/traced-worker.ts'
import { measureInTurns, printRatio, printSample } from './measure.ts'

const TIMES = Number(process.argv[2] ?? 300)
const LATENCY_MS = 200
const CPU_TURNS = 4
// Runs per turn. With a single run, the archiver's polls are a large part of the CPU time.
const CPU_RUNS = [1, 10]

const ENTRY = new URL('./traced/worker.ts', import.meta.url)

const folder = await mkdtemp(join(tmpdir(), 'portico-benchmark-'))
const [engine, redis, s3, bundle] = await Promise.all([
  startEngine(),
  startRedis(),
  startRclone(),
  bundleWorkflows(new URL('./traced/workflows.ts', import.meta.url), folder),
])
const farRedis = await startTcpProxy(`127.0.0.1:${redis.port}`, { latencyMs: LATENCY_MS })
const farS3 = await startTcpProxy(s3.endpoint.slice('http://'.length), { latencyMs: LATENCY_MS })
const far = tracedEnv(
  { url: redis.url.replace(`127.0.0.1:${redis.port}`, farRedis.address) },
  { ...s3, endpoint: `http://${farS3.address}` },
)
const env = { ENGINE_ADDRESS: engine.address, WORKFLOW_BUNDLE: bundle }
const workers = await Promise.all([
  startWorkerProcess(ENTRY, { ...env, ...far, SERVICE_CATALOG_ID: 'traced' }),
  startWorkerProcess(ENTRY, { ...env, SERVICE_CATALOG_ID: 'untraced' }),
])
const service = await startServiceProcess({ address: engine.address, catalog: 'untraced' })
try {
  const run =
    (catalog: string, workflowName = 'oneStep', input: object | null = null) =>
    async () => {
      const body = JSON.stringify({ workflowName, catalog, input })
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(`${service.url}/workflow/run`, { method: 'POST', headers, body })
      const { status } = (await response.json()) as { status?: string }
      if (status !== 'completed') throw new Error(`the run is ${status}`)
    }
  const acts = [run('traced'), run('untraced')]
  await measureInTurns(Math.min(TIMES, 30), ...acts)
  const [traced, untraced] = await measureInTurns(TIMES, ...acts)
  if (!traced || !untraced) throw new Error('not measured')
  printSample('run, one step, tracing on', traced)
  printSample('run, one step, tracing off', untraced)
  printRatio('on to off, medians', traced.p50, untraced.p50)

  for (const runs of CPU_RUNS) {
    const cpu = [0, 0]
    for (let turn = 0; turn < CPU_TURNS * 2; turn++) {
      const index = turn % 2
      const worker = workers[index]
      if (worker === undefined) throw new Error('no worker')
      const before = cpuMsOf(worker.pid)
      for (let left = runs; left > 0; left--)
        await run(index === 0 ? 'traced' : 'untraced', 'busy', { activities: 200 })()
      // The archiver archives a run after it has closed.
      await new Promise((resolve) => setTimeout(resolve, 8000))
      cpu[index] = (cpu[index] ?? 0) + cpuMsOf(worker.pid) - before
    }
    const [on = 0, off = 0] = cpu
    const perRun = (ms: number) => Math.round(ms / CPU_TURNS / runs)
    console.log(
      `worker CPU of a run of 200 activities, ${runs} and 8 s per turn: on ${perRun(on)} ms, off ${perRun(off)} ms`,
    )
    printRatio('on to off, worker CPU', on, off)
  }
} finally {
  await service.kill()
  await Promise.all(workers.map((worker) => worker.kill()))
  await Promise.all([farRedis.close(), farS3.close(), redis.kill(), s3.stop(), engine.stop()])
  await rm(folder, { recursive: true, force: true })
}
