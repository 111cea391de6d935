/** Measures and prints durations. */
import { percentile } from '../dev/percentiles.ts'

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
