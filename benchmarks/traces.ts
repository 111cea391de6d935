/** What does tracing cost who waits for a run, when the key-value store and the bucket are 200 ms away? */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEngine } from '../test/support/engine.ts'
import { startRedis } from '../test/support/redis.ts'
import { startRclone } from '../test/support/s3.ts'
import { startService } from '../test/support/service.ts'
import { startTcpProxy } from '../test/support/tcp-proxy.ts'
import { bundleTraced, objectKeys, startTracedWorker, tracedEnv } from '../test/support/traced-worker.ts'
import { until } from '../test/support/until.ts'
import { measureInTurns, tell, tellRatio } from './measure.ts'

const TIMES = Number(process.argv[2] ?? 300)
const LATENCY_MS = 200

const folder = await mkdtemp(join(tmpdir(), 'portico-benchmark-'))
const [engine, redis, s3, bundle] = await Promise.all([startEngine(), startRedis(), startRclone(), bundleTraced(folder)])
const farRedis = await startTcpProxy(`127.0.0.1:${redis.port}`, { latencyMs: LATENCY_MS })
const farS3 = await startTcpProxy(s3.endpoint.slice('http://'.length), { latencyMs: LATENCY_MS })
const far = tracedEnv(
  { url: redis.url.replace(`127.0.0.1:${redis.port}`, farRedis.address) },
  { ...s3, endpoint: `http://${farS3.address}` },
)
const env = { ENGINE_ADDRESS: engine.address, WORKFLOW_BUNDLE: bundle }
const workers = await Promise.all([
  startTracedWorker({ ...env, ...far, SERVICE_CATALOG_ID: 'traced' }),
  startTracedWorker({ ...env, SERVICE_CATALOG_ID: 'untraced' }),
])
const service = await startService({ address: engine.address, catalog: 'untraced' })
try {
  const run = (catalog: string) => async () => {
    const body = JSON.stringify({ workflowName: 'story', catalog, input: { end: 'complete', ms: 0 } })
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${service.url}/workflow/run`, { method: 'POST', headers, body })
    const { status } = (await response.json()) as { status?: string }
    if (status !== 'completed') throw new Error(`the run is ${status}`)
  }
  const acts = [run('traced'), run('untraced')]
  await measureInTurns(Math.min(TIMES, 30), ...acts)
  const [traced, untraced] = await measureInTurns(TIMES, ...acts)
  if (!traced || !untraced) throw new Error('not measured')
  tell('run, one step, tracing on', traced)
  tell('run, one step, tracing off', untraced)
  tellRatio('on to off, medians', traced.p50, untraced.p50)
  const wanted = TIMES + Math.min(TIMES, 30)
  await until('all are stored', async () => (await objectKeys(s3)).length >= Math.min(wanted, 1000), { timeoutMs: 120_000, everyMs: 1000 })
  console.log(`all ${wanted} traces are stored`)
} finally {
  await service.kill()
  await Promise.all(workers.map((worker) => worker.kill()))
  await Promise.all([farRedis.close(), farS3.close(), redis.kill(), s3.stop(), engine.stop()])
  await rm(folder, { recursive: true, force: true })
}
