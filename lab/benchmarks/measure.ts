/** Measures and prints durations. */
import { median, percentile } from '../../dev/percentiles.ts'

/** Percentiles of durations in milliseconds. */
export interface Sample {
  p50: number
  p99: number
}

/** Calls the functions in turns, so that other load on the machine affects all of them equally. */
export async function measureInTurns(times: number, ...acts: (() => Promise<unknown>)[]): Promise<Sample[]> {
  const durations = acts.map((): number[] => [])
  for (let turn = 0; turn < times; turn++) {
    for (const [index, act] of acts.entries()) {
      const startedAt = performance.now()
      await act()
      durations[index]?.push(performance.now() - startedAt)
    }
  }
  return durations.map(toSample)
}

/** Percentiles of durations in milliseconds. */
export function toSample(values: number[]): Sample {
  return { p50: percentile(values, 0.5), p99: percentile(values, 0.99) }
}

export function printSample(title: string, { p50, p99 }: Sample): void {
  console.log(`${title.padEnd(44)} p50 ${p50.toFixed(2).padStart(8)} ms   p99 ${p99.toFixed(2).padStart(8)} ms`)
}

export function printRatio(title: string, value: number, base: number): void {
  console.log(`${title.padEnd(44)} ${(value / base).toFixed(2)}`)
}

/** A request that is sent again and again. */
export interface Loop {
  name: string
  send: () => Response | Promise<Response>
}

export interface LoopOptions {
  rounds: number
  /** In each round. */
  requests: number
  warmUpRequests: number
}

/** Prints the CPU time of a request in each loop, as a table whose first column has this title. */
export async function compareCpuTime(
  title: string,
  loops: Loop[],
  { rounds, requests, warmUpRequests }: LoopOptions,
): Promise<void> {
  const measured = loops.map((loop) => ({ ...loop, costs: [] as number[] }))
  for (const { send } of measured) await cpuTimeOf(send, warmUpRequests)
  for (let round = 0; round < rounds; round++) {
    // In another order each time, so that none always follows the same one.
    for (const { send, costs } of measured.toSorted(() => Math.random() - 0.5))
      costs.push(await cpuTimeOf(send, requests))
  }
  const [base] = measured
  console.log(`| ${title} | Lowest | 10th percentile | Difference | Ratio |\n|---|---|---|---|---|`)
  for (const { name, costs } of measured) {
    const paired = costs.map((cost, round) => [cost, base?.costs[round] ?? Number.NaN] as const)
    const difference = median(paired.map(([cost, other]) => cost - other))
    const ratio = median(paired.map(([cost, other]) => cost / other))
    const cells = [percentile(costs, 0), percentile(costs, 0.1), difference].map((micros) => `${micros.toFixed(1)} µs`)
    console.log(`| ${[name, ...cells, ratio.toFixed(3)].join(' | ')} |`)
  }
}

/** In microseconds for each request. */
async function cpuTimeOf(send: Loop['send'], times: number): Promise<number> {
  const before = process.cpuUsage()
  for (let left = times; left > 0; left--) {
    const response = await send()
    if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`)
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / times
}
