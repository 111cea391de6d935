/** The tables that the benchmark prints: one of each scenario, and a summary. */
import { percentile } from '../../../dev/percentiles.ts'
import { type Contender, ENGINE_HTTP, floorOf, SDK } from './contenders.ts'
import type { Sample } from './load.ts'
import { RUNTIMES } from './targets.ts'

/** The sample of each contender, by name, for each round. */
export type Rounds = Map<string, Sample>[]

export interface SummaryRow {
  scenario: string
  calls: string
  /** Of each runtime, CPU time as a ratio to its floor, over most connections. */
  cpu: (string | null)[]
  /** Median latency on Node as a ratio to the alternative, over one connection. */
  latency: string | null
}

export function printDetailHeader(scenario: string, calls: Record<string, number>): void {
  const each = Object.entries(calls).map(([name, count]) => `${name} ${count.toFixed(1)}`)
  console.log(`\n## ${scenario}\n\nEngine calls per request: ${each.join(', ') || 'none'}\n`)
  console.log('| | Connections | Requests/s | p50 ms | p99 ms | CPU ms | CPU to floor (range) | MiB |')
  console.log('|---|---|---|---|---|---|---|---|')
}

export function detailRow({ name }: Contender, concurrency: number, rounds: Rounds): string {
  const of = (pick: (sample: Sample) => number) =>
    median(rounds.flatMap((samples) => [...samples].flatMap(([one, sample]) => (one === name ? [pick(sample)] : []))))
  const floor = floorOf(name)
  const cells = [
    name,
    concurrency,
    of(({ requestsPerSecond }) => requestsPerSecond).toFixed(0),
    of(({ p50Ms }) => p50Ms).toFixed(2),
    of(({ p99Ms }) => p99Ms).toFixed(1),
    of(({ cpuMs }) => cpuMs).toFixed(3),
    floor === null ? '' : (ratio(rounds, name, floor, ({ cpuMs }) => cpuMs) ?? ''),
    of(({ residentMiB }) => residentMiB).toFixed(0),
  ]
  return `| ${cells.join(' | ')} |`
}

export function toSummaryRow(
  scenario: string,
  calls: Record<string, number>,
  measured: ReadonlyMap<number, Rounds>,
): SummaryRow {
  const most = measured.get(Math.max(...measured.keys())) ?? []
  const fewest = measured.get(Math.min(...measured.keys())) ?? []
  const latency = (alternative: string) => ratio(fewest, 'portico on node', alternative, ({ p50Ms }) => p50Ms)
  const [toSdk, toEngine] = [latency(SDK), latency(ENGINE_HTTP)]
  const total = Object.values(calls).reduce((sum, count) => sum + count, 0)
  return {
    scenario,
    calls: String(Math.round(total * 10) / 10),
    cpu: RUNTIMES.map((runtime) => ratio(most, `portico on ${runtime}`, `floor on ${runtime}`, ({ cpuMs }) => cpuMs)),
    latency: toSdk === null ? toEngine : `${toSdk} (SDK)`,
  }
}

export function printSummary(rows: readonly SummaryRow[]): void {
  console.log('\n## Summary\n')
  console.log("| Endpoint | Engine calls | CPU to floor: Node | Bun | Deno | p50 to Temporal's HTTP API |")
  console.log('|---|---|---|---|---|---|')
  for (const { scenario, calls, cpu, latency } of rows)
    console.log(`| ${[scenario, calls, ...cpu.map((cell) => cell ?? ''), latency ?? ''].join(' | ')} |`)
}

/** Median and range of the ratio of two contenders within a round; null if one of them was not measured. */
function ratio(rounds: Rounds, name: string, other: string, pick: (sample: Sample) => number): string | null {
  const ratios = rounds.flatMap((samples) => {
    const [own, base] = [samples.get(name), samples.get(other)]
    return own && base ? [pick(own) / pick(base)] : []
  })
  if (ratios.length === 0) return null
  return `${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)})`
}

function median(values: number[]): number {
  return percentile(values, 0.5)
}
