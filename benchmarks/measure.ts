/** How the scripts measure. */

/** Of how long `act` took each time, in milliseconds. */
export interface Sample {
  p50: number
  p99: number
}

/** Takes turns, so that what else the machine does falls on all of them alike. */
export async function measureInTurns(times: number, ...acts: (() => Promise<unknown>)[]): Promise<Sample[]> {
  const took = acts.map((): number[] => [])
  for (let turn = 0; turn < times; turn++) {
    for (const [index, act] of acts.entries()) {
      const beganAt = performance.now()
      await act()
      took[index]?.push(performance.now() - beganAt)
    }
  }
  return took.map(toSample)
}

function toSample(values: number[]): Sample {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99) }
}

export function tell(what: string, { p50, p99 }: Sample): void {
  console.log(`${what.padEnd(44)} p50 ${p50.toFixed(2).padStart(8)} ms   p99 ${p99.toFixed(2).padStart(8)} ms`)
}

export function tellRatio(what: string, of: number, to: number): void {
  console.log(`${what.padEnd(44)} ${(of / to).toFixed(2)}`)
}
