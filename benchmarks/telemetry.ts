/** What do metrics and spans cost for each request? */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startEngine } from '../dev/servers/engine.ts'
import { startProcess } from '../dev/servers/process.ts'
import { until } from '../dev/servers/until.ts'
import { connect, exchange, measureLoad, type Sample } from './requests/load.ts'
import { createScenarios, type Scenario } from './requests/scenarios.ts'
import { RUNTIMES, type RunningTarget, type Runtime, startPortico } from './requests/targets.ts'
import { printDirectCosts } from './telemetry/direct.ts'

const [blocks = '9', durationMs = '150', scenarioNames = 'health,status', runtimeName = 'node'] = process.argv.slice(2)
const runtime: Runtime = RUNTIMES.find((name) => name === runtimeName) ?? 'node'
const CATALOG = 'telemetry'
const CONCURRENCY = 32
// Short turns, so that other load on the machine affects all variants equally.
const TURNS = 15
const WARM_UP_MS = 5000

await printDirectCosts()

// Stands for a collector: the spans are taken and dropped.
const collector = createServer((request, response) => request.resume().on('end', () => response.end()))
collector.listen(0, '127.0.0.1')
await once(collector, 'listening')

const spans = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}` }
const VARIANTS: Record<string, Record<string, string>> = {
  off: {},
  // Shows how much of a difference is chance.
  'off again': {},
  metrics: { SERVICE_METRICS_ON: 'true' },
  'metrics and 10 % of the spans': {
    SERVICE_METRICS_ON: 'true',
    ...spans,
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.1',
  },
  'metrics and all spans': { SERVICE_METRICS_ON: 'true', ...spans },
}

const limits = { 'frontend.rps': 1_000_000, 'frontend.namespaceRPS': 1_000_000, 'frontend.namespaceCount': 100_000 }
const engine = await startEngine({ dynamicConfig: limits })
const worker = await startProcess({
  command: process.execPath,
  args: ['examples/worker.ts'],
  env: { PATH: process.env.PATH, SERVICE_CATALOG_ID: CATALOG, ENGINE_ADDRESS: engine.address },
})
const targets = new Map<string, RunningTarget>()
let setUp: RunningTarget | null = null
try {
  for (const [name, env] of Object.entries(VARIANTS))
    targets.set(name, await startPortico(runtime, engine, CATALOG, env))
  // Not measured: a service that has handled more requests than the others would be faster.
  setUp = await startPortico(runtime, engine, CATALOG)
  const { port } = setUp
  const { agent, close } = connect()
  const isPublished = () => exchange(port, { method: 'GET', path: '/workflow/catalog' }, agent)
  await until('the catalog is published', () => isPublished().catch(() => false), { timeoutMs: 60_000 })
  const scenarios = await createScenarios(port, CATALOG, agent)
  close()
  console.log(
    `\n| Scenario on ${runtime} | Telemetry | CPU per request | Ratio to off (middle half) |\n|---|---|---|---|`,
  )
  for (const scenario of scenarios.filter(({ name }) => scenarioNames.split(',').includes(name)))
    await measureScenario(scenario)
} finally {
  await Promise.all([worker.kill(), setUp?.kill(), ...[...targets.values()].map((target) => target.kill())])
  await engine.kill()
  collector.closeAllConnections()
  collector.close()
}

async function measureScenario({ name, next }: Scenario): Promise<void> {
  const load = (ms: number) => ({ concurrency: CONCURRENCY, durationMs: ms })
  for (const target of targets.values()) await measureLoad(target, next, load(WARM_UP_MS))
  const costs = new Map([...targets.keys()].map((variant) => [variant, [] as number[]]))
  for (let block = 0; block < Number(blocks); block++) {
    const sums = new Map([...targets.keys()].map((variant) => [variant, { cpuMs: 0, requests: 0 }]))
    for (let turn = 0; turn < TURNS; turn++) {
      // Each turn begins with another variant, so that none always follows the same one.
      const variants = [...targets].map((_, index, all) => all[(index + turn) % all.length])
      for (const [variant, target] of variants.filter((found) => found !== undefined))
        add(sums.get(variant), await measureLoad(target, next, load(Number(durationMs))))
    }
    for (const [variant, { cpuMs, requests }] of sums) costs.get(variant)?.push(cpuMs / requests)
  }
  const base = costs.get('off') ?? []
  for (const [variant, own] of costs) {
    const ratios = own.map((cost, block) => cost / (base[block] ?? Number.NaN)).toSorted((a, b) => a - b)
    const at = (share: number) => (ratios[Math.floor(share * (ratios.length - 1))] ?? Number.NaN).toFixed(2)
    const median = own.toSorted((a, b) => a - b)[Math.floor(own.length / 2)] ?? Number.NaN
    const ratio = variant === 'off' ? '' : `${at(0.5)} (${at(0.25)}–${at(0.75)})`
    console.log(`| ${name} | ${variant} | ${(median * 1000).toFixed(0)} µs | ${ratio} |`)
  }
}

function add(sum: { cpuMs: number; requests: number } | undefined, { cpuMs, requestsPerSecond }: Sample): void {
  if (sum === undefined) return
  // The number of requests, but for a constant that all variants share.
  sum.requests += requestsPerSecond
  sum.cpuMs += cpuMs * requestsPerSecond
}
