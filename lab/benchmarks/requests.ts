/** What does a request cost, beside a server that does nothing but the same raw calls? */

import { startEngine } from '../../dev/servers/engine.ts'
import { callsDuring } from '../../dev/servers/engine-metrics.ts'
import { startProcess } from '../../dev/servers/process.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { type Contender, contendersFor } from './requests/contenders.ts'
import { connect, exchange, measureLoad } from './requests/load.ts'
import {
  detailRow,
  printDetailHeader,
  printSummary,
  type Rounds,
  type SummaryRow,
  toSummaryRow,
} from './requests/report.ts'
import { createScenarios, type Scenario } from './requests/scenarios.ts'
import { RUNTIMES, type RunningTarget, startFloor, startPortico, UNLIMITED } from './requests/targets.ts'

const [rounds = '5', durationMs = '1000', scenarioNames = 'all', runtimeNames = 'all'] = process.argv.slice(2)
const CATALOG = 'requests'
const MAX_CONCURRENCY = 32
const CONCURRENCIES = [1, MAX_CONCURRENCY]
// The compilation of hot code is not measured: the services have more code than the floor.
const WARM_UP_MS = 5000
const COUNTED = 20

// About 20 runs: fewer than the scenario "result" reads in turns, so that it reads each of them from the engine.
const env = { SERVICE_RESULT_CACHE_BYTES: '40000' }

const isNamed = (names: string, name: string) => names === 'all' || names.split(',').includes(name)

const engine = await startEngine({ dynamicConfig: UNLIMITED })
const worker = await startProcess({
  command: process.execPath,
  args: ['examples/worker.ts'],
  env: { PATH: process.env.PATH, SERVICE_CATALOG_ID: CATALOG, ENGINE_ADDRESS: engine.address },
})
const targets: RunningTarget[] = []
try {
  for (const runtime of RUNTIMES.filter((name) => isNamed(runtimeNames, name)))
    targets.push(await startPortico(runtime, engine, CATALOG, env), await startFloor(runtime, engine, CATALOG))
  const [portico] = targets
  if (portico === undefined) throw new Error(`No runtime is named ${runtimeNames}`)
  const { agent, close } = connect()
  const isPublished = () => exchange(portico.port, { method: 'GET', path: '/workflow/catalog' }, agent)
  await until('the catalog is published', () => isPublished().catch(() => false), { timeoutMs: 60_000 })
  const scenarios = await createScenarios(portico.port, CATALOG, agent)
  close()
  const rows: SummaryRow[] = []
  for (const scenario of scenarios.filter(({ name }) => isNamed(scenarioNames, name))) {
    if (scenario.needsNoWorker) await worker.kill()
    rows.push(await measureScenario(scenario, portico))
  }
  printSummary(rows)
} finally {
  await Promise.all([worker.kill(), ...targets.map((target) => target.kill())])
  await engine.kill()
}

async function measureScenario(scenario: Scenario, portico: RunningTarget): Promise<SummaryRow> {
  const calls = await countCalls(scenario, portico)
  const contenders = contendersFor(scenario, targets, engine)
  printDetailHeader(scenario.name, calls)
  for (const { target, next } of contenders)
    await measureLoad(target, next, { concurrency: MAX_CONCURRENCY, durationMs: WARM_UP_MS })
  const measured = new Map<number, Rounds>()
  for (const concurrency of CONCURRENCIES) {
    const samples = await measureInTurns(contenders, concurrency)
    for (const contender of contenders) console.log(detailRow(contender, concurrency, samples))
    measured.set(concurrency, samples)
  }
  return toSummaryRow(scenario.name, calls, measured)
}

/**
 * The contenders take turns, so that other load on the machine affects all of them equally.
 * The first turn is not counted.
 */
async function measureInTurns(contenders: readonly Contender[], concurrency: number): Promise<Rounds> {
  const load = (ms: number) => ({ concurrency, durationMs: ms })
  for (const { target, next } of contenders) await measureLoad(target, next, load(Number(durationMs) / 2))
  const samples: Rounds = []
  for (let round = 0; round < Number(rounds); round++) {
    const inRound: Rounds[number] = new Map()
    for (const { name, target, next } of contenders)
      inRound.set(name, await measureLoad(target, next, load(Number(durationMs))))
    samples.push(inRound)
  }
  return samples
}

/** Engine calls for each request. */
async function countCalls({ next }: Scenario, portico: RunningTarget): Promise<Record<string, number>> {
  const { agent, close } = connect()
  // The catalog is read again every 5 s, by one request for all.
  await exchange(
    portico.port,
    { method: 'POST', path: '/workflow/start', body: { workflowName: 'greet', input: { name: 'Ada' } } },
    agent,
  )
  const calls = await callsDuring(engine.metricsUrl, async () => {
    for (let left = COUNTED; left > 0; left--) await exchange(portico.port, next(), agent)
  })
  close()
  return Object.fromEntries(Object.entries(calls).map(([name, count]) => [name, count / COUNTED]))
}
