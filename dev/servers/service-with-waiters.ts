/** The service, with its own engine and worker, for hundreds of `POST /workflow/run` requests that wait at the same time. */
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { defineCatalog } from '../../src/worker/catalog/define-catalog.ts'
import { type RunningEngine, startEngine } from './engine.ts'
import { openPolls } from './engine-metrics.ts'
import type { Inventory } from './observed-service.ts'
import { startProcess } from './process.ts'
import { until } from './until.ts'
import type * as workflows from './waiting-workflows.ts'
import { startWorker } from './worker.ts'

const ENTRY = fileURLToPath(new URL('./observed-service.ts', import.meta.url))
const WORKFLOWS = new URL('./waiting-workflows.ts', import.meta.url)
const CATALOG = 'waiting'

export interface ServiceWithWaiters {
  url: string
  engine: RunningEngine
  /** Everything that the service has printed. */
  lines: readonly string[]
  /** Memory, timers and sockets of the service, after a garbage collection. */
  inventory(): Promise<Inventory>
  /** Starts `count` runs, each on a connection of its own. Resolves when the engine holds a long poll for 95 % of them. */
  wait(count: number): Promise<Waiters>
  stop(): Promise<void>
}

export interface Waiters {
  workflowIds: string[]
  /** Completes all runs and returns their responses, in the order of the ids. */
  finish(): Promise<RunResponse[]>
}

export interface RunResponse {
  status: number
  headers: Headers
  text: string
  /** The parsed `text`. */
  // biome-ignore lint/suspicious/noExplicitAny: an assertion says what it should be
  body: any
}

export async function startServiceWithWaiters(): Promise<ServiceWithWaiters> {
  const engine = await startEngine()
  const worker = await startWorker({
    address: engine.address,
    taskQueue: CATALOG,
    workflowsPath: WORKFLOWS,
    catalog: defineCatalog<typeof workflows>({ echo: {}, waitForSignal: {} }),
  })
  const lines: string[] = []
  const service = await startProcess({
    command: process.execPath,
    args: ['--expose-gc', ENTRY],
    env: {
      PATH: process.env.PATH,
      SERVICE_PORT: '0',
      SERVICE_CATALOG_ID: CATALOG,
      ENGINE_ADDRESS: engine.address,
      // All runs are started at the same time.
      SERVICE_MAX_INFLIGHT: '1000',
    },
    onLine: (line) => void lines.push(line),
  })
  const url = await until('the service listens', () => /"url":"([^"]+)"/.exec(lines.join('\n'))?.[1])
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
    await until(`the signal of ${id} is accepted`, isSent, { timeoutMs: 60_000 })
  }

  return {
    url,
    engine,
    lines,

    async inventory() {
      const seen = lines.length
      process.kill(service.pid, 'SIGUSR2')
      const line = await until('the service prints its inventory', () =>
        lines.slice(seen).find((it) => it.includes('"inventory"')),
      )
      return JSON.parse(line)
    },

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
        await until(`${responses.length} runs have a long poll`, areWaiting, { everyMs: 100 })
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

/** Uses a connection of its own and closes it with the response; `fetch` would keep it open. */
async function runAlone(url: string, body: object): Promise<RunResponse> {
  const sent = request(`${url}/workflow/run`, {
    method: 'POST',
    agent: false,
    headers: { 'Content-Type': 'application/json' },
  })
  sent.end(JSON.stringify(body))
  const [response]: IncomingMessage[] = await once(sent, 'response')
  if (response === undefined) throw new Error('no response')
  const json = await text(response)
  const headers = new Headers(
    Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)]),
  )
  return { status: response.statusCode ?? 0, headers, text: json, body: JSON.parse(json) }
}
