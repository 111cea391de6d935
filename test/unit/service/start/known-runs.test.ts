import { expect, test, vi } from 'vitest'
import { assertUnusedId } from '../../../../src/service/messages/unused-id.ts'
import { TIMEOUT_MS } from '../../../../src/service/model/deadlines.ts'
import { checkOpenRun } from '../../../../src/service/start/check-open-run.ts'
import { createKnownRuns } from '../../../../src/service/start/known-runs.ts'
import { aCall } from '../../call.ts'
import { aDescription, anEngine } from '../catalog-fixture.ts'

const REQUEST = { workflowId: 'orders-17', workflowName: 'refund', catalog: 'refunds', args: [] }
const MESSAGE = { name: 'approve', args: [] }

/** An engine that has an open run of `order`, or starts what a request names. */
function setUp({ started }: { started: boolean }) {
  const run = { workflowId: 'orders-17', runId: 'run-1', firstRunId: 'run-1' }
  const engine = anEngine({
    describe: async () => aDescription(),
    start: async () => run,
    updateWithStart: async () => ({ ...run, started, result: null }),
  })
  const knownRuns = createKnownRuns({ engine })
  return {
    engine: checkOpenRun(engine, knownRuns),
    known: async () => (await knownRuns.read({ workflowId: 'orders-17' })).value,
  }
}

test('known runs: a run that was started here is known without a read', async () => {
  const { engine, known } = setUp({ started: true })

  await engine.start(REQUEST, aCall())

  const found = await known()
  expect(found).toEqual({ runId: 'run-1', workflowName: 'refund', catalog: 'refunds', open: true, pinnedVersion: null })
})

test('known runs: a run that an update-with-start found is not remembered as a started one', async () => {
  const [starting, finding] = [setUp({ started: true }), setUp({ started: false })]

  await starting.engine.updateWithStart(REQUEST, MESSAGE, 'u', aCall())
  await finding.engine.updateWithStart(REQUEST, MESSAGE, 'u', aCall())

  expect([(await starting.known()).workflowName, (await finding.known()).workflowName]).toEqual(['refund', 'order'])
})

test('known runs: a read may take as long as a description, so that the key of a message is compared', async () => {
  vi.useFakeTimers()
  const timesLeft: number[] = []
  const engine = anEngine({
    describe: async (_, { deadlineAt }) => {
      timesLeft.push(deadlineAt - Date.now())
      return aDescription()
    },
  })

  await assertUnusedId({ knownRuns: createKnownRuns({ engine }) }, { workflowId: 'orders-17' }, 'id', aCall())
  vi.useRealTimers()

  expect(timesLeft).toEqual([TIMEOUT_MS.describe])
})
