/** What test/simulator/ shows, with more seeds and more calls. */
import { availableParallelism } from 'node:os'
import { expect } from 'vitest'
import { type Comparison, compare } from '../../test/simulator/differential/compare.ts'
import { OVER } from '../../test/simulator/differential/transports.ts'
import { runSimulations } from '../../test/simulator/run-simulations.ts'
import { test as sharedTest } from '../../test/support/fixtures.ts'
import * as activities from '../soak/activities.ts'

const SEEDS = 5000
// They take seven to fifteen minutes alone, and more beside other tests.
const PATIENT = { timeout: 3_600_000 }
// Of each transport, in comparisons with other seeds at the same time.
const OPERATIONS = Number(process.env.DIFFERENTIAL_OPERATIONS ?? 1000)
const COMPARISONS = Number(process.env.DIFFERENTIAL_COMPARISONS ?? 10)

const test = sharedTest.extend('workerOptions', { scope: 'file' }, () => ({
  workflowsPath: new URL('../soak/workflows.ts', import.meta.url),
  activities,
}))

test('simulator: 5,000 seeds break no rule', PATIENT, async () => {
  const count = Math.ceil(SEEDS / availableParallelism())
  const parts = Array.from({ length: availableParallelism() }, (_, part) => 1 + part * count)

  // They compute for minutes: tests of real time beside them come first.
  const simulations = await Promise.all(parts.map((from) => runSimulations({ count, from, inBackground: true })))

  expect(simulations.flatMap(({ violations }) => violations)).toEqual([])
  expect(simulations.map(({ exitCode }) => exitCode)).toEqual(parts.map(() => 0))
})

test.for([OVER.grpc, OVER.http])(
  'engine model: answers many random calls over $name as a real server does',
  async ({ transportTo }, { engine, worker, cleanup }) => {
    const transport = transportTo(engine)
    cleanup.defer(() => transport.close())
    const { taskQueue } = worker
    const count = OPERATIONS / COMPARISONS
    const seeds = Array.from({ length: COMPARISONS }, (_, number) => 1000 + number)

    const compared: Comparison[] = await Promise.all(
      seeds.map((seed) => compare({ seed, count, transport, taskQueue })),
    )

    for (const { leftOut } of compared) if (Object.keys(leftOut).length > 0) console.info('Not compared:', leftOut)
    expect(compared.flatMap(({ differences }) => differences)).toEqual([])
  },
)
