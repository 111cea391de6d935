/** What sends the items of a stream to its readers: the service, a bare server, and the SDK. */
import { fileURLToPath } from 'node:url'
import type { Client } from '@temporalio/client'
import { WorkflowStreamClient } from '@temporalio/workflow-streams/client'
import { type ObservedService, startObservedService } from '../../../dev/servers/start-observed.ts'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { addLatencies, type Latencies, noLatencies, type Sent } from './latencies.ts'
import { type ReaderProcess, startReaders } from './reader-process.ts'

export interface Contender {
  name: string
  readers: number
  /** The processes whose CPU time is the cost of the readers. */
  pids: readonly number[]
  /** What a reader adds to the memory of these processes; null if that is not measured. */
  memory: { heapBytes: number; rssBytes: number } | null
  publish(data: Sent): Promise<void>
  /** What the readers have received since the last report. */
  report(): Promise<Latencies>
  /** The number of updates in the history of the run; null without a run. */
  countUpdates(): Promise<number | null>
  stop(): Promise<void>
}

export interface ContenderOptions {
  client: Client
  address: string
  taskQueue: string
  readers: number
  log(line: string): void
}

const REPLICAS = 2
const WARM_UPS = 10

/** Two replicas of the service. Each has half of the readers of one run. */
export async function startPortico(options: ContenderOptions): Promise<Contender> {
  const { address, taskQueue } = options
  const run = await startRun(options)
  const start = () => startObservedService({ address, catalog: taskQueue })
  const path = `/workflow/${run.workflowId}/stream`
  const servers = await Promise.all(Array.from({ length: REPLICAS }, start))
  return startServed('Portico', servers, path, options, run)
}

/** Two bare servers that send the same frames to the same readers. */
export async function startBare(options: ContenderOptions): Promise<Contender> {
  const entry = fileURLToPath(new URL('./fan-out.ts', import.meta.url))
  const start = () => startObservedService({ address: '', catalog: '', entry })
  const servers = await Promise.all(Array.from({ length: REPLICAS }, start))
  async function publish(data: Sent): Promise<void> {
    const body = JSON.stringify(data)
    await Promise.all(servers.map(({ url }) => fetch(url, { method: 'POST', body })))
  }
  return startServed('node:http', servers, '/', options, { publish, countUpdates: async () => null })
}

/** The SDK's own readers, in one process: the engine accepts 10 updates of a run at a time, and each reader has one. */
export async function startSdk(options: ContenderOptions): Promise<Contender> {
  const { address, readers } = options
  const { workflowId, ...run } = await startRun(options)
  const process = await startReaders(new URL('./sdk-readers.ts', import.meta.url), [
    address,
    workflowId,
    String(readers),
  ])
  for (let left = WARM_UPS; left > 0; left--) await run.publish({ at: 0 })
  return {
    ...run,
    name: "the SDK's readers",
    readers,
    pids: [process.pid],
    memory: null,
    report: process.report,
    stop: process.kill,
  }
}

type Source = Pick<Contender, 'countUpdates' | 'publish'>

async function startServed(
  name: string,
  servers: readonly ObservedService[],
  path: string,
  { readers, log }: ContenderOptions,
  source: Source,
): Promise<Contender> {
  const total = async (what: 'heapBytes' | 'rssBytes' | 'sockets') => {
    const inventories = await Promise.all(servers.map(({ inventory }) => inventory()))
    return inventories.reduce((sum, inventory) => sum + inventory[what], 0)
  }
  const memory = async () => ({ heapBytes: await total('heapBytes'), rssBytes: await total('rssBytes') })
  const warmUp = async () => {
    for (let left = WARM_UPS; left > 0; left--) await source.publish({ at: 0 })
  }

  // The first readers load code and grow the heap for good, so they are not measured.
  const first = await connectAll(servers, path, Math.max(REPLICAS, Math.ceil(readers / 20)), () => {})
  await warmUp()
  await Promise.all(first.map(({ kill }) => kill()))
  await until('the connections are closed', async () => (await total('sockets')) < 10)
  const before = await memory()
  const processes = await connectAll(servers, path, readers, (count) => log(`${name}: ${count} readers`))
  await warmUp()
  const during = await memory()

  return {
    ...source,
    name,
    readers,
    pids: servers.map(({ pid }) => pid),
    memory: {
      heapBytes: (during.heapBytes - before.heapBytes) / readers,
      rssBytes: (during.rssBytes - before.rssBytes) / readers,
    },
    async report() {
      const sum = noLatencies()
      for (const latencies of await Promise.all(processes.map(({ report }) => report()))) addLatencies(sum, latencies)
      return sum
    },
    async stop() {
      await Promise.all([...processes, ...servers].map(({ kill }) => kill()))
    },
  }
}

/** The readers of each server have a process of their own. */
function connectAll(
  servers: readonly ObservedService[],
  path: string,
  readers: number,
  onProgress: (count: number) => void,
): Promise<ReaderProcess[]> {
  const connected = servers.map(() => 0)
  return Promise.all(
    servers.map(({ url }, index) => {
      const count = Math.floor((readers + index) / servers.length)
      return startReaders(new URL('./sse-readers.ts', import.meta.url), [`${url}${path}`, String(count)], (soFar) => {
        connected[index] = soFar
        onProgress(connected.reduce((sum, each) => sum + each, 0))
      })
    }),
  )
}

async function startRun({ client, taskQueue }: ContenderOptions) {
  const handle = await client.workflow.start('stream', { taskQueue, workflowId: crypto.randomUUID() })
  const stream = WorkflowStreamClient.create(client as never, handle.workflowId)
  const topic = stream.topic<Sent>('tokens')
  return {
    workflowId: handle.workflowId,
    async publish(data: Sent) {
      topic.publish(data)
      await stream.flush()
    },
    async countUpdates() {
      const { events = [] } = await handle.fetchHistory()
      return (events ?? []).filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes).length
    },
  }
}
