/**
 * What happens beyond capacity: how many requests are still answered, and how fast, if 1, 2 and 5 times as many arrive
 * as can be handled? And how many of 500 starts at the same instant, on an idle service?
 */
import { setTimeout as pause } from 'node:timers/promises'
import { percentile } from '../../dev/percentiles.ts'
import { startEngine } from '../../dev/servers/engine.ts'
import type * as workflows from '../../dev/servers/waiting-workflows.ts'
import { startWorker } from '../../dev/servers/worker.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { defineCatalog } from '../../src/worker/catalog/define-catalog.ts'
import type { Exchange } from './requests/load.ts'
import { createSender } from './requests/sender.ts'
import { type RunningTarget, startPortico } from './requests/targets.ts'

const ROUNDS = Number(process.argv[2] ?? 5)
const DURATION_MS = Number(process.argv[3] ?? 5000)
/** Values of `SERVICE_MAX_INFLIGHT` to compare; `default` leaves it unset. */
const LIMITS = (process.argv[4] ?? 'default,1000000').split(',')
const CATALOG = 'overload'
// Enough to keep the dev server busy: more connections add latency, but no throughput.
const CONCURRENCY = 32
const FACTORS = [1, 2, 5]
const BURST = 500
const FAILED = { status: 0, text: '' }

// The dev server's limits are those of a shared cluster.
const dynamicConfig = {
  'frontend.rps': 1_000_000,
  'frontend.namespaceRPS': 1_000_000,
  'frontend.namespaceCount': 100_000,
}

const engine = await startEngine({ dynamicConfig })
const worker = await startWorker({
  address: engine.address,
  taskQueue: CATALOG,
  workflowsPath: new URL('../../dev/servers/waiting-workflows.ts', import.meta.url),
  catalog: defineCatalog<typeof workflows>({ echo: {}, waitForSignal: {} }),
})
// The catalog stays published. Without a worker only the start itself is measured.
await worker.stop()
const startRequest: Exchange = { method: 'POST', path: '/workflow/start', body: { workflowName: 'echo', input: null } }
const services: { limit: string; service: RunningTarget }[] = []

try {
  for (const limit of LIMITS) {
    const env = { SERVICE_LOG_LEVEL: 'error', ...(limit !== 'default' && { SERVICE_MAX_INFLIGHT: limit }) }
    services.push({ limit, service: await startPortico('node', engine, CATALOG, env) })
  }
  const [{ service: first }] = services as [(typeof services)[number]]
  const { send, close } = createSender(first.port, startRequest)
  const started = await until('a workflow starts', async () => {
    const { status, text } = await send()
    return status === 200 && text
  })
  close()
  const { workflowId } = JSON.parse(started) as { workflowId: string }
  await measureBursts(startRequest)
  await measure('start', startRequest)
  await measure('status', { method: 'GET', path: `/workflow/${workflowId}/status` })
} finally {
  await Promise.all(services.map(({ service }) => service.kill()))
  await engine.kill()
}

/** Each burst begins on an idle service, whose queue has been empty for long. */
async function measureBursts(request: Exchange): Promise<void> {
  console.log(`## ${BURST} starts at the same instant\n\n| Limit | Started | Rejected | Other errors | p50 | p99 |`)
  console.log('|---|---|---|---|---|---|')
  for (let left = ROUNDS; left > 0; left--) {
    for (const { limit, service } of services) {
      const { send, close } = createSender(service.port, request)
      const took: number[] = []
      let rejected = 0
      let failed = 0
      const sendOne = async () => {
        const sentAt = performance.now()
        const { status, text } = await send().catch(() => FAILED)
        if (status === 200) took.push(performance.now() - sentAt)
        else if (text.includes('OverloadedError')) rejected++
        else failed++
      }
      await Promise.all(Array.from({ length: BURST }, sendOne))
      close()
      const cells = [limit, took.length, rejected, failed]
      const times = [0.5, 0.99].map((share) => `${percentile(took, share).toFixed(0)} ms`)
      console.log(`| ${[...cells, ...times].join(' | ')} |`)
      await pause(1000)
    }
  }
}

interface Offered {
  /** Successful responses per second, while requests were sent. */
  goodput: number
  p99Ms: number
  rejectedP99Ms: number
  failed: number
}

interface Round {
  capacity: number
  p99Ms: number
  offered: Offered[]
}

async function measure(name: string, request: Exchange): Promise<void> {
  const rounds = new Map<string, Round[]>(services.map(({ limit }) => [limit, []]))
  for (const { service } of services) await measureCapacity(service, request)
  for (let left = ROUNDS; left > 0; left--) {
    for (const { limit, service } of services) {
      const { capacity, p99Ms } = await measureCapacity(service, request)
      const offered: Offered[] = []
      for (const factor of FACTORS) {
        offered.push(await offer(service, request, capacity * factor))
        // The next measurement begins on an idle service.
        await pause(2000)
      }
      rounds.get(limit)?.push({ capacity, p99Ms, offered })
    }
  }
  console.log(
    `\n## ${name}\n\n| Limit | Offered | Goodput to capacity | p99 to that at capacity | p99 | p99 of a rejection | Other errors |`,
  )
  console.log('|---|---|---|---|---|---|---|')
  for (const { limit } of services) printRows(limit, rounds.get(limit) ?? [])
}

/** Sends one request after the other over each connection. Rejects at the first one that does not succeed. */
async function measureCapacity(
  { port }: RunningTarget,
  request: Exchange,
): Promise<{ capacity: number; p99Ms: number }> {
  const { send, close } = createSender(port, request)
  const took: number[] = []
  const startedAt = performance.now()
  const connection = async () => {
    while (performance.now() - startedAt < DURATION_MS) {
      const sentAt = performance.now()
      const { status, text } = await send()
      if (status !== 200) throw new Error(`${request.method} ${request.path} responded ${status}: ${text}`)
      took.push(performance.now() - sentAt)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, connection))
  close()
  return { capacity: took.length / ((performance.now() - startedAt) / 1000), p99Ms: percentile(took, 0.99) }
}

/** Sends `rate` requests per second, whatever the responses are. */
async function offer(service: RunningTarget, request: Exchange, rate: number): Promise<Offered> {
  const { send, close } = createSender(service.port, request)
  const took: number[] = []
  const rejected: number[] = []
  let inTime = 0
  let failed = 0
  const startedAt = performance.now()
  const elapsedMs = () => performance.now() - startedAt

  async function sendOne(): Promise<void> {
    const sentAt = elapsedMs()
    const { status, text } = await send().catch(() => FAILED)
    const ms = elapsedMs() - sentAt
    if (status === 200) {
      took.push(ms)
      if (elapsedMs() < DURATION_MS) inTime++
    } else if (text.includes('OverloadedError')) rejected.push(ms)
    else failed++
  }

  const open: Promise<void>[] = []
  while (elapsedMs() < DURATION_MS) {
    const due = Math.floor((elapsedMs() / 1000) * rate)
    while (open.length < due) open.push(sendOne())
    await pause(1)
  }
  await Promise.all(open)
  close()
  const goodput = inTime / (DURATION_MS / 1000)
  return { goodput, p99Ms: percentile(took, 0.99), rejectedP99Ms: percentile(rejected, 0.99), failed }
}

function printRows(limit: string, rounds: readonly Round[]): void {
  const median = (pick: (round: Round) => number) => percentile(rounds.map(pick), 0.5)
  console.log(
    `| ${limit} | ${CONCURRENCY} connections | 1 (${median(({ capacity }) => capacity).toFixed(0)} per second) | 1 | ${median(({ p99Ms }) => p99Ms).toFixed(0)} ms | | |`,
  )
  for (const [index, factor] of FACTORS.entries()) {
    const offered = (pick: (of: Offered, round: Round) => number) =>
      median((round) => pick(round.offered[index] as Offered, round))
    const cells = [
      limit,
      `${factor} ×`,
      offered(({ goodput }, { capacity }) => goodput / capacity).toFixed(2),
      offered(({ p99Ms }, round) => p99Ms / round.p99Ms).toFixed(2),
      `${offered(({ p99Ms }) => p99Ms).toFixed(0)} ms`,
      `${offered(({ rejectedP99Ms }) => rejectedP99Ms).toFixed(0)} ms`,
      offered(({ failed }) => failed).toFixed(0),
    ]
    console.log(`| ${cells.join(' | ')} |`)
  }
}
