/** Finds the fewest clients, scenarios and faults with which a seed still breaks a rule. */
import { CLIENTS, type Simulation, type SimulationOptions, simulate } from './simulate.ts'

export interface Shrunk {
  options: SimulationOptions
  simulation: Simulation
}

/** `options` break a rule. Each step is kept if a rule is still broken, whichever it is. */
export async function shrink(options: SimulationOptions): Promise<Shrunk> {
  let best: Shrunk = { options, simulation: await simulate(options) }

  async function isKept(change: Partial<SimulationOptions>): Promise<boolean> {
    const changed = { ...best.options, ...change }
    const simulation = await simulate(changed)
    if (simulation.violations.length === 0) return false
    best = { options: changed, simulation }
    return true
  }

  await isKept({ disturbs: false })
  for (const client of CLIENTS) if (await isKept({ clients: [client] })) break
  for (const scenarios of [1, 2]) if (await isKept({ scenarios })) break
  const all = Array.from({ length: best.simulation.faultCount }, (_, number) => number)
  await withFewest(all, (faults) => isKept({ onlyFaults: new Set(faults) }))
  return best
}

/** Leaves out halves, quarters and so on, as long as `isKept`. */
async function withFewest(
  all: readonly number[],
  isKept: (some: readonly number[]) => Promise<boolean>,
): Promise<void> {
  let kept = all
  for (
    let size = Math.ceil(all.length / 2);
    size >= 1 && kept.length > 0;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let from = 0; from < kept.length; ) {
      const rest = [...kept.slice(0, from), ...kept.slice(from + size)]
      if (await isKept(rest)) kept = rest
      else from += size
    }
  }
}
