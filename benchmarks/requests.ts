/** What does a request cost, beside a server that does nothing but the same raw calls? */
import { Agent } from 'node:http'
import { startEngine } from '../dev/servers/engine.ts'
import { callsDuring } from '../dev/servers/engine-metrics.ts'
import { startProcess } from '../dev/servers/process.ts'
import { until } from '../dev/servers/until.ts'
import { type Exchange, exchange, measureLoad, type Sample, type Target } from './requests/load.ts'
import { createScenarios, type Scenario } from './requests/scenarios.ts'
import { RUNTIMES, type RunningTarget, startFloor, startPortico } from './requests/targets.ts'

const ROUNDS = Number(process.argv[2] ?? 5)
const DURATION_MS = Number(process.argv[3] ?? 1500)
const ONLY = process.argv[4]?.split(',')
const CATALOG = 'requests'
const CONCURRENCIES = [1, 32]
const COUNTED = 20

// The dev server's limits are those of a shared cluster.
const dynamicConfig = {
  'frontend.rps': 1_000_000,
  'frontend.namespaceRPS': 1_000_000,
  'frontend.namespaceRPS.visibility': 1_000_000,
  'frontend.namespaceCount': 100_000,
}

const agent = new Agent({ keepAlive: true, maxSockets: 64 })
const engine = await startEngine({ dynamicConfig })
const worker = await startProcess({
  command: process.execPath,
  args: ['examples/worker.ts'],
  env: { PATH: process.env.PATH, SERVICE_CATALOG_ID: CATALOG, ENGINE_ADDRESS: engine.address },
})
const targets: RunningTarget[] = []
try {
  for (const runtime of RUNTIMES) {
    targets.push(await startPortico(runtime, engine, CATALOG), await startFloor(runtime, engine, CATALOG))
  }
  const [portico] = targets
  if (portico === undefined) throw new Error('Nothing was started')
  const isPublished = () => exchange(portico.port, { method: 'GET', path: '/workflow/catalog' }, agent)
  await until('the catalog is published', () => isPublished().catch(() => false), { timeoutMs: 60_000 })
  for (const scenario of await createScenarios(portico.port, CATALOG, agent)) {
    if (ONLY !== undefined && !ONLY.includes(scenario.name)) continue
    await measureScenario(scenario, portico)
  }
} finally {
  await Promise.all([worker.kill(), ...targets.map((target) => target.kill())])
  await engine.kill()
  agent.destroy()
}

interface Contender {
  name: string
  target: Target
  next: () => Exchange
  /** Whose CPU its own is compared with. */
  floor: string | null
}

function contendersFor({ next, sdk, engineHttp }: Scenario): Contender[] {
  const own = targets.map((target) => ({
    name: target.name,
    target,
    next,
    floor: target.name.startsWith('portico') ? target.name.replace('portico', 'floor') : null,
  }))
  const nodeFloor = targets.find(({ name }) => name === 'floor on node')
  const port = Number(new URL(engine.httpUrl).port)
  return [
    ...own,
    ...(sdk && nodeFloor
      ? [{ name: 'SDK execute on node', target: nodeFloor, next: sdk, floor: 'floor on node' }]
      : []),
    ...(engineHttp
      ? [{ name: "engine's HTTP API", target: { port, pid: engine.pid }, next: engineHttp, floor: null }]
      : []),
  ]
}

async function measureScenario(scenario: Scenario, portico: RunningTarget): Promise<void> {
  const contenders = contendersFor(scenario)
  const calls = await callsDuring(engine.metricsUrl, async () => {
    for (let left = COUNTED; left > 0; left--) await exchange(portico.port, scenario.next(), agent)
  })
  const perRequest = Object.entries(calls).map(([name, count]) => `${name} ${(count / COUNTED).toFixed(1)}`)
  console.log(`\n## ${scenario.name}\n\nEngine calls per request: ${perRequest.join(', ') || 'none'}\n`)
  console.log('| | connections | requests/s | p50 ms | p99 ms | CPU ms | CPU to floor (range) | MiB |')
  console.log('|---|---|---|---|---|---|---|---|')
  for (const concurrency of CONCURRENCIES) {
    const load = (durationMs: number) => ({ concurrency, durationMs, agent })
    for (const { target, next } of contenders) await measureLoad(target, next, load(DURATION_MS / 2))
    const rounds: Map<string, Sample>[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const samples = new Map<string, Sample>()
      for (const { name, target, next } of contenders)
        samples.set(name, await measureLoad(target, next, load(DURATION_MS)))
      rounds.push(samples)
    }
    for (const contender of contenders) printRow(contender, concurrency, rounds)
  }
}

function printRow({ name, floor }: Contender, concurrency: number, rounds: readonly Map<string, Sample>[]): void {
  const of = (pick: (sample: Sample) => number) =>
    median(rounds.flatMap((samples) => (samples.has(name) ? [pick(samples.get(name) as Sample)] : [])))
  const ratios = rounds.flatMap((samples) => {
    const [own, other] = [samples.get(name), floor === null ? undefined : samples.get(floor)]
    return own && other ? [own.cpuMs / other.cpuMs] : []
  })
  const spread = `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`
  const cells = [
    name,
    concurrency,
    of(({ requestsPerSecond }) => requestsPerSecond).toFixed(0),
    of(({ p50Ms }) => p50Ms).toFixed(2),
    of(({ p99Ms }) => p99Ms).toFixed(1),
    of(({ cpuMs }) => cpuMs).toFixed(3),
    ratios.length === 0 ? '' : `${median(ratios).toFixed(2)} (${spread})`,
    of(({ residentMiB }) => residentMiB).toFixed(0),
  ]
  console.log(`| ${cells.join(' | ')} |`)
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? Number.NaN
}
