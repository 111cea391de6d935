import { expect, test, vi } from 'vitest'
import { assertUnusedId } from '../../../../src/service/messages/unused-id.ts'
import { TIMEOUT_MS } from '../../../../src/service/model/deadlines.ts'
import type { EngineStart } from '../../../../src/service/model/engine.ts'
import { ServiceError } from '../../../../src/service/model/errors.ts'
import type { ExecutionRef } from '../../../../src/service/model/execution.ts'
import { checkOpenRun, createKnownRuns } from '../../../../src/service/start/known-runs.ts'
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

test('start: a run that takes the place of the one that was checked is neither terminated nor sent anything (threat 20)', async () => {
  const replaced = new ServiceError('WorkflowNotRunningError', 'It is not running')
  const reached: unknown[] = []
  const reach = async (ref: ExecutionRef) => {
    reached.push(ref.runId)
    throw replaced
  }
  const start = async ({ options }: EngineStart) => {
    reached.push(options?.workflowIdConflictPolicy)
    throw new ServiceError('WorkflowAlreadyStartedError', 'Another run is open')
  }
  const unchecked = anEngine({
    describe: async () => aDescription({ runId: 'checked' }),
    checkStart: async () => {},
    ...{ terminate: reach, signal: reach, update: reach, start },
  })
  const engine = checkOpenRun(unchecked, { add: () => {} })
  const request = { ...REQUEST, objectionTo: () => null }
  const terminating = { ...request, options: { workflowIdConflictPolicy: 'terminate-existing' as const } }

  const ended = await Promise.allSettled([
    engine.start(terminating, aCall()),
    engine.signalWithStart(request, MESSAGE, aCall()),
    engine.updateWithStart(request, MESSAGE, 'u', aCall()),
  ])

  expect(ended.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(new Set(reached)).toEqual(new Set(['checked', 'fail']))
  expect(reached.filter((one) => one === 'checked')).toHaveLength(3 + 3 + 1)
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
