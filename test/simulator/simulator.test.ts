import { expect, test } from 'vitest'
import { runSimulations } from './run-simulations.ts'

const hashIn = (line: string) => / traces ([0-9a-f]{64})$/.exec(line)?.[1]

// Half a minute of two processors that have nothing else to do.
const PATIENT = { timeout: 600_000 }

test('simulator: 300 seeds break no rule, and 50 of them have the same traces in two processes', PATIENT, async () => {
  const first = { count: 50, from: 1 }

  const [one, other] = await Promise.all([runSimulations(first), runSimulations(first)])
  const [more, evenMore] = await Promise.all([
    runSimulations({ count: 125, from: 51 }),
    runSimulations({ count: 125, from: 176 }),
  ])

  const all = [one, other, more, evenMore]
  expect(all.flatMap(({ violations }) => violations)).toEqual([])
  expect(all.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0])
  expect(hashIn(one.last)).toBe(hashIn(other.last))
  expect(hashIn(one.last)).toMatch(/^[0-9a-f]{64}$/)
  expect(hashIn(more.last)).not.toBe(hashIn(evenMore.last))
})
