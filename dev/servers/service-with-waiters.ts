/**
 * The service, with its own engine and worker, for hundreds of `POST /workflow/run` requests that wait at the same
 * time.
 */

import { until } from '../../src/cli/dev/servers/until.ts'
import { defineCatalog } from '../../src/worker/catalog/define-catalog.ts'
import { type RunningEngine, startEngine } from './engine.ts'
import { openPolls } from './engine-metrics.ts'
import type { Inventory } from './print-inventory.ts'
import { type RunResponse, runAlone } from './run-alone.ts'
import { startObservedService } from './start-observed.ts'
import type * as workflows from './waiting-workflows.ts'
import { startWorker } from './worker.ts'

const WORKFLOWS = new URL('./waiting-workflows.ts', import.meta.url)
const CATALOG = 'waiting'

export interface ServiceWithWaiters {
  url: string
  pid: number
  engine: RunningEngine
  /** Everything that the service has printed. */
  lines: readonly string[]
  /** Memory, timers and sockets of the service, after a garbage collection. */
  inventory(): Promise<Inventory>
  /**
   * Starts `count` runs, each on a connection of its own. Resolves when the engine holds a long poll for 95 % of them.
   */
  wait(count: number): Promise<Waiters>
  stop(): Promise<void>
}

export interface Waiters {
  workflowIds: string[]
  /** Completes all runs and returns their responses, in the order of the ids. */
  finish(): Promise<RunResponse[]>
}

export async function startServiceWithWaiters(): Promise<ServiceWithWaiters> {
  const engine = await startEngine()
  const worker = await startWorker({
    address: engine.address,
    taskQueue: CATALOG,
    workflowsPath: WORKFLOWS,
    catalog: defineCatalog<typeof workflows>({ echo: {}, waitForSignal: {} }),
  })
  // All runs are started at the same time. A read of the catalog behind them could be late, and fail them.
  const env = { SERVICE_MAX_INFLIGHT: '1000', SERVICE_CATALOG_TTL: '1h' }
  const service = await startObservedService({ address: engine.address, catalog: CATALOG, env })
  const { url, pid, lines, inventory } = service
  await until('the catalog is published', async () => (await fetch(`${url}/workflow/catalog`)).ok)

  async function signalFinish(id: string, hasResponse: (id: string) => boolean): Promise<void> {
    const signal = () =>
      fetch(`${url}/workflow/${id}/signal/finish`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ payload: id }),
      })
    // A run that has a response before its signal has failed; the response says why.
    const isSent = async () => hasResponse(id) || (await signal()).ok
    await until(`the signal of ${id} is accepted`, isSent)
  }

  return {
    url,
    pid,
    engine,
    lines,
    inventory,

    async wait(count) {
      const workflowIds = Array.from({ length: count }, (_, number) => `waiting-${number}-${crypto.randomUUID()}`)
      const responses: Promise<RunResponse>[] = []
      const finished = new Set<string>()
      // Polls are renewed every 20 s, so a few are always missing.
      const areWaiting = async () => (await openPolls(engine.metricsUrl)) >= responses.length * 0.95
      for (const ids of inBatches(workflowIds)) {
        for (const workflowId of ids) {
          const response = runAlone(url, { workflowName: 'waitForSignal', workflowId, input: null, timeout: '15m' })
          const done = () => void finished.add(workflowId)
          response.then(done, done) // finish() reports a rejection
          responses.push(response)
        }
        await until(`${responses.length} runs have a long poll`, areWaiting, { everyMs: 250 })
      }
      return {
        workflowIds,
        async finish() {
          for (const ids of inBatches(workflowIds))
            await Promise.all(ids.map((id) => signalFinish(id, (it) => finished.has(it))))
          return Promise.all(responses)
        },
      }
    },

    async stop() {
      await service.kill()
      await worker.stop()
      await engine.kill()
    },
  }
}

// 500 requests at once exceed the time limit of a request on this engine.
const AT_ONCE = 25

function* inBatches(ids: readonly string[]): Generator<readonly string[]> {
  for (let at = 0; at < ids.length; at += AT_ONCE) yield ids.slice(at, at + AT_ONCE)
}
