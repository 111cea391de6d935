/**
 * Measures the latency, CPU time and memory of thousands of readers of one stream on two replicas of the service,
 * beside a bare server that sends the same frames, and beside the SDK's own readers.
 */
import { parseArgs } from 'node:util'
import { Client, Connection } from '@temporalio/client'
import { startEngine } from '../../dev/servers/engine.ts'
import { callsDuring } from '../../dev/servers/engine-metrics.ts'
import { cpuMsOf } from '../../dev/servers/process-usage.ts'
import { startWorker } from '../../dev/servers/worker.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { sleep } from '../../src/shared/lib/abort.ts'
import { type Contender, startBare, startPortico, startSdk } from './streams/contenders.ts'
import { addLatencies, type Latencies, noLatencies, now, percentileMs } from './streams/latencies.ts'

interface Scenario {
  readers: number
  /** Between two items. */
  everyMs: number
  /** Each contender is measured so often, in turns with the others. */
  turns: number
  /** Items of a turn. */
  items: number
}

const SCENARIOS: Scenario[] = [
  { readers: 1000, everyMs: 200, turns: 3, items: 50 },
  { readers: 10_000, everyMs: 500, turns: 3, items: 30 },
]
const QUICK: Scenario[] = [{ readers: 100, everyMs: 200, turns: 1, items: 10 }]

// A run has room for 10 updates at a time.
const SDK_READERS = 9

// How long the last item may take.
const LAST_ITEM_MS = 10_000

const { values, positionals } = parseArgs({ options: { quick: { type: 'boolean' } }, allowPositionals: true })
const only = positionals.map(Number)
const scenarios = values.quick ? QUICK : SCENARIOS.filter(({ readers }) => only.length === 0 || only.includes(readers))

// The dev server's limits are those of a shared cluster: each reader that connects reads the status of its run.
const engine = await startEngine({ dynamicConfig: { 'frontend.rps': 1_000_000, 'frontend.namespaceRPS': 1_000_000 } })
const taskQueue = 'streams'
const worker = await startWorker({
  address: engine.address,
  taskQueue,
  workflowsPath: new URL('./streams/workflow.ts', import.meta.url),
})
const connection = await Connection.connect({ address: engine.address })
const client = new Client({ connection })
try {
  for (const scenario of scenarios) await measure(scenario)
} finally {
  await connection.close()
  await worker.stop()
  await engine.kill()
}

interface Measured {
  contender: Contender
  latencies: Latencies
  items: number
  cpuMs: number
  calls: Map<string, number>
  updates: number | null
}

async function measure({ readers, everyMs, turns, items }: Scenario): Promise<void> {
  const options = { client, address: engine.address, taskQueue, readers, log }
  const contenders: Contender[] = []
  try {
    contenders.push(await startPortico(options))
    contenders.push(await startBare(options))
    contenders.push(await startSdk({ ...options, readers: SDK_READERS }))
    const measured = contenders.map((contender): Measured => {
      return { contender, latencies: noLatencies(), items: 0, cpuMs: 0, calls: new Map(), updates: null }
    })
    for (let turn = 1; turn <= turns; turn++) {
      for (const each of measured) {
        await measureTurn(each, items, everyMs)
        const { latencies, contender } = each
        log(`turn ${turn} of ${turns}, ${contender.name}: p50 so far ${percentileMs(latencies, 0.5).toFixed(1)} ms`)
      }
    }
    print(`${readers} readers, an item every ${everyMs} ms`, measured)
  } finally {
    await Promise.all(contenders.map((contender) => contender.stop()))
  }
}

async function measureTurn(measured: Measured, items: number, everyMs: number): Promise<void> {
  const { contender, latencies } = measured
  const updatesBefore = await contender.countUpdates()
  // The items of the warm-up are not measured, but may be late.
  await contender.report()
  const calls = await callsDuring(engine.metricsUrl, async () => {
    const cpuBefore = totalCpuMs(contender)
    await publishAll(contender, items, everyMs)
    await untilReceived(contender, items, latencies)
    measured.cpuMs += totalCpuMs(contender) - cpuBefore
  })
  measured.items += items
  for (const [name, count] of Object.entries(calls)) measured.calls.set(name, (measured.calls.get(name) ?? 0) + count)
  const updatesAfter = await contender.countUpdates()
  if (updatesBefore !== null && updatesAfter !== null)
    measured.updates = (measured.updates ?? 0) + updatesAfter - updatesBefore
}

async function publishAll(contender: Contender, items: number, everyMs: number): Promise<void> {
  const startedAt = now()
  const pending: Promise<void>[] = []
  for (let item = 0; item < items; item++) {
    await sleep(Math.max(0, startedAt + item * everyMs - now()))
    pending.push(contender.publish({ at: now() }))
  }
  await Promise.all(pending)
}

/** An item that was lost is in the table, and does not end the benchmark. */
async function untilReceived(contender: Contender, items: number, latencies: Latencies): Promise<void> {
  const expected = latencies.received + items * contender.readers
  const areReceived = async () => {
    addLatencies(latencies, await contender.report())
    return latencies.received >= expected
  }
  await until('the items are received', areReceived, { timeoutMs: LAST_ITEM_MS, everyMs: 200 }).catch(() => {})
}

function totalCpuMs({ pids }: Contender): number {
  return pids.reduce((sum, pid) => sum + cpuMsOf(pid), 0)
}

function print(title: string, measured: readonly Measured[]): void {
  const row = (name: string, cell: (of: Measured) => string) =>
    console.log(`| ${[name, ...measured.map(cell)].join(' | ')} |`)
  const kib = (bytes: number | undefined) => (bytes === undefined ? '' : `${(bytes / 1024).toFixed(1)} KiB`)
  console.log(`\n## ${title}\n`)
  row('', ({ contender }) => contender.name)
  row('---', () => '---')
  row('readers', ({ contender }) => String(contender.readers))
  row('latency, p50', ({ latencies }) => `${percentileMs(latencies, 0.5).toFixed(1)} ms`)
  row('latency, p99', ({ latencies }) => `${percentileMs(latencies, 0.99).toFixed(1)} ms`)
  row('latency, highest', ({ latencies }) => `${percentileMs(latencies, 1).toFixed(1)} ms`)
  row(
    'CPU time per item and reader',
    ({ latencies, cpuMs }) => `${((cpuMs * 1000) / latencies.received).toFixed(1)} µs`,
  )
  row('heap per reader', ({ contender }) => kib(contender.memory?.heapBytes))
  row('resident memory per reader', ({ contender }) => kib(contender.memory?.rssBytes))
  row('updates per item', ({ updates, items }) => (updates === null ? '' : (updates / items).toFixed(2)))
  for (const name of new Set(measured.flatMap(({ calls }) => [...calls.keys()])))
    row(`${name} per item`, ({ calls, items }) => ((calls.get(name) ?? 0) / items).toFixed(2))
  row('lost items', ({ latencies, items, contender }) => String(items * contender.readers - latencies.received))
  row('gaps', ({ latencies }) => String(latencies.gaps))
  const [portico, bare] = measured
  if (portico === undefined || bare === undefined) return
  const ratio = (of: (of: Measured) => number) => (of(portico) / of(bare)).toFixed(2)
  console.log(
    `\nPortico to node:http: p50 ${ratio(({ latencies }) => percentileMs(latencies, 0.5))}, ` +
      `p99 ${ratio(({ latencies }) => percentileMs(latencies, 0.99))}, CPU time ${ratio(({ cpuMs }) => cpuMs)}, ` +
      `heap ${ratio(({ contender }) => contender.memory?.heapBytes ?? Number.NaN)}, ` +
      `resident memory ${ratio(({ contender }) => contender.memory?.rssBytes ?? Number.NaN)}\n`,
  )
}

function log(line: string): void {
  console.error(line)
}
