/** Everything that a soak runs against: an engine, workers, two replicas, and the proxies that disturb them. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RunningEngine, startEngine } from '../../dev/servers/engine.ts'
import { type ObservedService, startObservedService } from '../../dev/servers/start-observed.ts'
import { startTcpProxy, type TcpProxy } from '../../dev/servers/tcp-proxy.ts'
import { type RunningWorker, startWorker } from '../../dev/servers/worker.ts'
import { type FaultProxy, startFaultProxy } from '../../test/support/fault-proxy.ts'
import { openGauges } from '../../test/support/open-gauges.ts'
import * as activities from './activities.ts'
import { type Balancer, startBalancer } from './balancer.ts'
import { CATALOGS } from './catalogs.ts'
import { createRandom } from './random.ts'
import { createSentCalls, type SentCalls } from './sent-calls.ts'

export interface World {
  /** Of both replicas. */
  balancer: Balancer
  /** Never stopped. */
  steady: ObservedService
  /** What the replicas are doing, such as `portico_requests_in_flight{} 1`. Empty if both are idle. */
  openWork(): Promise<string[]>
  faultProxy: FaultProxy
  /** What has arrived at `faultProxy`. */
  sentCalls: SentCalls
  tcpProxy: TcpProxy
  engineAddress: string
  /** `end` is how the replica ends. */
  replaceReplica(end: (replica: ObservedService) => Promise<unknown>): Promise<void>
  restartEngine(end: (engine: RunningEngine) => Promise<unknown>): Promise<void>
  /** Replaces the worker by one with the other catalog. */
  redeployWorker(): Promise<void>
  close(): Promise<void>
}

const CATALOG = 'soak'
const WORKFLOWS = new URL('./workflows.ts', import.meta.url)

export async function startWorld(seed: number): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), 'soak-'))
  // The number of long polls is below what the clients need, so some are rejected.
  const dynamicConfig = { 'frontend.namespaceCount': 40, 'frontend.WorkflowPauseEnabled': true }
  let engine = await startEngine({ dbFile: join(folder, 'engine.sqlite'), dynamicConfig })
  const tcpProxy = await startTcpProxy(engine.address)
  const sentCalls = createSentCalls()
  const faultProxy = await startFaultProxy(tcpProxy.address, null, { onCall: sentCalls.add })
  const startReplica = () =>
    startObservedService({
      address: faultProxy.address,
      catalog: CATALOG,
      env: { SERVICE_RESULT_CACHE_BYTES: `${2 ** 20}`, SERVICE_METRICS_ON: 'true' },
    })
  let version = 0
  let worker = await deploy()
  const [steady, first] = await Promise.all([startReplica(), startReplica()])
  let mortal: ObservedService | null = first
  // A replica that is down gets no requests, but those that it has are lost.
  const targets = (): [string, ...string[]] => (mortal === null ? [steady.url] : [steady.url, mortal.url])
  const balancer = await startBalancer(targets, createRandom(seed))

  function deploy(): Promise<RunningWorker> {
    const catalog = CATALOGS[version++ % 2] ?? CATALOGS[0]
    const options = { debugMode: true } as const
    return startWorker({
      address: engine.address,
      taskQueue: CATALOG,
      workflowsPath: WORKFLOWS,
      activities,
      catalog,
      options,
    })
  }

  return {
    balancer,
    steady,
    async openWork() {
      const metrics = await Promise.all(targets().map(async (url) => (await fetch(`${url}/metrics`)).text()))
      return metrics.flatMap((text) => openGauges(text, { countScrapes: true }))
    },
    faultProxy,
    sentCalls,
    tcpProxy,
    engineAddress: engine.address,
    async replaceReplica(end) {
      const replica = mortal
      if (replica === null) return
      const ended = end(replica)
      mortal = null
      await ended
      mortal = await startReplica()
    },
    async restartEngine(end) {
      await end(engine)
      // On a busy machine a dev server with a database file takes minutes to respond while the replicas keep calling.
      tcpProxy.interrupt()
      engine = await engine.restart()
      tcpProxy.restore()
    },
    async redeployWorker() {
      await worker.stop()
      worker = await deploy()
    },
    async close() {
      balancer.close()
      await Promise.all([steady.kill(), mortal?.kill(), worker.stop().catch(() => {})])
      await faultProxy.stop()
      await tcpProxy.close()
      await engine.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
