/** What do metrics and spans cost for each request? */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { median, percentile } from '../../dev/percentiles.ts'
import { startEngine } from '../../dev/servers/engine.ts'
import { startProcess } from '../../dev/servers/process.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { connect, exchange, measureLoad, type Sample } from './requests/load.ts'
import { createScenarios, type Scenario } from './requests/scenarios.ts'
import { commandOf, RUNTIMES, type RunningTarget, type Runtime, startPortico } from './requests/targets.ts'

const [blocks = '9', durationMs = '150', scenarioNames = 'health,status', runtimeNames = RUNTIMES.join()] =
  process.argv.slice(2)
const runtimes = RUNTIMES.filter((name) => runtimeNames.split(',').includes(name))
const CATALOG = 'telemetry'
const CONCURRENCY = 32
// Short turns, so that other load on the machine affects all variants equally.
const TURNS = 15
const WARM_UP_MS = 3000

// Replaces a collector: it receives the spans and drops them.
const collector = createServer((request, response) => request.resume().on('end', () => response.end()))
collector.listen(0, '127.0.0.1')
await once(collector, 'listening')

const spans = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}` }
const VARIANTS: Record<string, Record<string, string>> = {
  off: {},
  // Shows how much of a difference is chance.
  'off again': {},
  metrics: { SERVICE_METRICS_ON: 'true' },
  'spans, none sampled': { ...spans, OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' },
  'spans, 10 % sampled': { ...spans, OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.1' },
  'all spans': spans,
}

/** The processes of one runtime, by their variant. */
type Variants = Map<string, RunningTarget>

await printDirectCosts()

const limits = { 'frontend.rps': 1_000_000, 'frontend.namespaceRPS': 1_000_000, 'frontend.namespaceCount': 100_000 }
const engine = await startEngine({ dynamicConfig: limits })
const worker = await startProcess({
  command: process.execPath,
  args: ['examples/worker.ts'],
  env: { PATH: process.env.PATH, SERVICE_CATALOG_ID: CATALOG, ENGINE_ADDRESS: engine.address },
})
const targets = new Map<Runtime, Variants>()
let setUp: RunningTarget | null = null
try {
  for (const runtime of runtimes) {
    const variants: Variants = new Map()
    targets.set(runtime, variants)
    for (const [name, env] of Object.entries(VARIANTS))
      variants.set(name, await startPortico(runtime, engine, CATALOG, env))
  }
  // Not measured: a service that has handled more requests than the others would be faster.
  setUp = await startPortico('node', engine, CATALOG)
  const { port } = setUp
  const { agent, close } = connect()
  const isPublished = () => exchange(port, { method: 'GET', path: '/workflow/catalog' }, agent)
  await until('the catalog is published', () => isPublished().catch(() => false), { timeoutMs: 60_000 })
  const scenarios = await createScenarios(port, CATALOG, agent)
  close()
  console.log(
    '\n| Scenario | Runtime | Telemetry | CPU per request | Ratio to off (middle half) |\n|---|---|---|---|---|',
  )
  for (const scenario of scenarios.filter(({ name }) => scenarioNames.split(',').includes(name)))
    await measureScenario(scenario)
} finally {
  const running = [...targets.values()].flatMap((variants) => [...variants.values()])
  await Promise.all([worker.kill(), setUp?.kill(), ...running.map((target) => target.kill())])
  await engine.kill()
  collector.closeAllConnections()
  collector.close()
}

/** Prints the CPU time for each request in microseconds, without any other work. One runtime after the other. */
async function printDirectCosts(): Promise<void> {
  const script = fileURLToPath(new URL('./telemetry/direct.ts', import.meta.url))
  const costs: Record<string, number>[] = []
  for (const runtime of runtimes) {
    const { command, args } = commandOf(runtime, script)
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...spans }
    const { stdout } = await promisify(execFile)(command, args, { env })
    costs.push(JSON.parse(stdout))
  }
  console.log(
    `| Telemetry itself, for each request | ${runtimes.join(' | ')} |\n|---|${'---|'.repeat(runtimes.length)}`,
  )
  for (const name of Object.keys(costs[0] ?? {}))
    console.log(`| ${name} | ${costs.map((own) => `${own[name]?.toFixed(1)} µs`).join(' | ')} |`)
}

async function measureScenario({ name, next }: Scenario): Promise<void> {
  const load = (ms: number) => ({ concurrency: CONCURRENCY, durationMs: ms })
  const all = [...targets].flatMap(([runtime, variants]) =>
    [...variants].map(([variant, target]) => ({ runtime, variant, target, costs: [] as number[] })),
  )
  for (const { target } of all) await measureLoad(target, next, load(WARM_UP_MS))
  for (let block = 0; block < Number(blocks); block++) {
    const turns = all.map((measured) => ({ ...measured, sum: { cpuMs: 0, requests: 0 } }))
    for (let turn = 0; turn < TURNS; turn++) {
      // Each turn begins with another variant, so that none always follows the same one.
      for (const { target, sum } of [...turns.slice(turn % turns.length), ...turns.slice(0, turn % turns.length)])
        add(sum, await measureLoad(target, next, load(Number(durationMs))))
    }
    for (const { costs, sum } of turns) costs.push(sum.cpuMs / sum.requests)
  }
  for (const { runtime, variant, costs } of all) {
    const base = all.find((other) => other.runtime === runtime && other.variant === 'off')?.costs ?? []
    const ratios = costs.map((cost, block) => cost / (base[block] ?? Number.NaN))
    const at = (share: number) => percentile(ratios, share).toFixed(2)
    const ratio = variant === 'off' ? '' : `${at(0.5)} (${at(0.25)}–${at(0.75)})`
    console.log(`| ${name} | ${runtime} | ${variant} | ${(median(costs) * 1000).toFixed(0)} µs | ${ratio} |`)
  }
}

function add(sum: { cpuMs: number; requests: number }, { cpuMs, requestsPerSecond }: Sample): void {
  // Proportional to the number of requests.
  sum.requests += requestsPerSecond
  sum.cpuMs += cpuMs * requestsPerSecond
}
