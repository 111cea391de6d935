/**
 * The service in front of an engine with its default limits, for thousands of `POST /workflow/run` requests that wait
 * at the same time. No worker executes the runs: they wait until the engine terminates them.
 */
import { Connection } from '@temporalio/client'
import { until } from '../../src/cli/dev/servers/until.ts'
import { mapConcurrent } from '../../src/shared/lib/map-concurrent.ts'
import { nullOnGrpcNotFound } from '../../src/shared/temporal/grpc-code.ts'
import { defineCatalog } from '../../src/worker/catalog/define-catalog.ts'
import { type RunningEngine, startEngine } from './engine.ts'
import type { Inventory } from './print-inventory.ts'
import { type RunResponse, runAlone } from './run-alone.ts'
import { startObservedService } from './start-observed.ts'
import { startWorker } from './worker.ts'

const CATALOG = 'crowd'
const WORKFLOW = 'waitForSignal'

// Node's own default in a container of 512 MiB.
const MAX_HEAP_MEBIBYTES = 256

// Requests whose runs are being started at a time, and runs that are terminated at a time. The service accepts 64
// starts. A run may be listed before the service has received the response to its start, so twice as many may be in
// flight.
const STARTS_AT_ONCE = 30
const ENDS_AT_ONCE = 4

// Longer than the test: on a slow machine a read of the catalog behind all the starts could time out.
const SERVICE_CATALOG_TTL = '1h'

// No run takes longer, on any machine.
const TIMEOUT = '1h'

// The time for the last response after the last run has ended. The next poll or batch of the service finds the end.
const LAST_RESPONSE_MS = 300_000

export interface ServiceWithCrowd {
  url: string
  engine: RunningEngine
  /** Memory, timers and sockets of the service, after a garbage collection. */
  inventory(): Promise<Inventory>
  /**
   * Sends `count` requests, each on a connection of its own, as fast as the engine starts their runs.
   * `report` gets a line now and then.
   */
  gather(count: number, report?: Report): Promise<Crowd>
  stop(): Promise<void>
}

export interface Crowd {
  /** Requests that have a response already. */
  answered(): number
  /** Terminates all runs, the one that started last first, and returns the responses in the order of the requests. */
  disperse(report?: Report): Promise<CrowdResponse[]>
}

type Report = (progress: string) => void
const REPORTED_EVERY = 10 * STARTS_AT_ONCE

export interface CrowdResponse extends RunResponse {
  workflowId: string
  /**
   * Time from the engine's confirmation that the run has ended to the response; negative if the response came first.
   */
  delayMs: number
}

export async function startServiceWithCrowd(): Promise<ServiceWithCrowd> {
  const engine = await startEngine()
  // The catalog outlives the worker that publishes it.
  const publisher = await startWorker({
    address: engine.address,
    taskQueue: CATALOG,
    workflowsPath: new URL('./waiting-workflows.ts', import.meta.url),
    catalog: defineCatalog({ [WORKFLOW]: {} }),
  })
  await publisher.stop()
  const connection = await Connection.connect({ address: engine.address })
  const service = await startObservedService({
    address: engine.address,
    catalog: CATALOG,
    maxHeapMebibytes: MAX_HEAP_MEBIBYTES,
    env: { SERVICE_CATALOG_TTL },
  })

  // Counts the runs of one crowd: the engine may still count runs of another crowd that have ended.
  async function countRunning(crowdId: string): Promise<number> {
    const query = `WorkflowId STARTS_WITH '${crowdId}' AND ExecutionStatus = 'Running'`
    const { count } = await connection.workflowService.countWorkflowExecutions({ namespace: 'default', query })
    return Number(count)
  }

  async function gather(count: number, report: Report = () => {}): Promise<Crowd> {
    const crowdId = crypto.randomUUID()
    const requests: { workflowId: string; response: Promise<RunResponse & { at: number }> }[] = []
    let answered = 0
    while (requests.length < count) {
      for (let sent = Math.min(STARTS_AT_ONCE, count - requests.length); sent > 0; sent--) {
        const workflowId = `${crowdId}-${requests.length}`
        const body = { workflowName: WORKFLOW, workflowId, input: null, timeout: TIMEOUT }
        const response = runAlone(service.url, body).then((received) => ({ ...received, at: performance.now() }))
        const count = () => void answered++
        response.then(count, count) // disperse() reports a rejection
        requests.push({ workflowId, response })
      }
      const areStarted = async () => (await countRunning(crowdId)) + answered >= requests.length
      await until(`${requests.length} runs have started`, areStarted, {
        // The engine counts thousands of runs.
        everyMs: 150,
        signal: service.died,
      })
      if (requests.length % REPORTED_EVERY === 0) report(`${requests.length} runs have started`)
    }
    return {
      answered: () => answered,
      async disperse(report = () => {}) {
        const endedAt = new Map<string, number>()
        await mapConcurrent(requests.toReversed(), ENDS_AT_ONCE, async ({ workflowId }) => {
          const request = { namespace: 'default', workflowExecution: { workflowId } }
          // If a run has not started, its response says why.
          await connection.workflowService.terminateWorkflowExecution(request).catch(nullOnGrpcNotFound)
          endedAt.set(workflowId, performance.now())
          if (endedAt.size % REPORTED_EVERY === 0) report(`${endedAt.size} runs have ended`)
        })
        await until('all requests have a response', () => answered === count, {
          timeoutMs: LAST_RESPONSE_MS,
          signal: service.died,
        })
        return Promise.all(
          requests.map(async ({ workflowId, response }) => {
            const { at, ...received } = await response
            return { ...received, workflowId, delayMs: at - (endedAt.get(workflowId) ?? Number.NaN) }
          }),
        )
      },
    }
  }

  return {
    url: service.url,
    engine,
    inventory: service.inventory,
    gather,
    async stop() {
      await connection.close()
      await service.kill()
      await engine.kill()
    },
  }
}
