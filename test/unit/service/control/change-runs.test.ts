import { expect, test } from 'vitest'
import { reset } from '../../../../src/service/control/control.ts'
import { pause, unpause } from '../../../../src/service/control/pause.ts'
import { ServiceError } from '../../../../src/service/model/errors.ts'
import type { Description } from '../../../../src/service/model/execution.ts'
import { createKnownRuns } from '../../../../src/service/start/known-runs.ts'
import { CATALOG_TYPE } from '../../../../src/shared/wire/catalog.ts'
import { aCall, rejection } from '../../call.ts'
import { aDescription, anEngine } from '../catalog-fixture.ts'

const REF = { workflowId: 'orders-17' }
const COMMAND = { ref: REF, reason: null }
const RESET = { ...COMMAND, target: { stepName: 'charge' } }

/** Returns these descriptions in turn; without `act` a change of the run is a bug. */
function portsOf(descriptions: Partial<Description>[], act: (runId: string) => Promise<void> = unexpected) {
  let described = 0
  const engine = anEngine({
    describe: async () => aDescription(descriptions[Math.min(described++, descriptions.length - 1)]),
    pause: ({ runId }) => act(runId),
    unpause: ({ runId }) => act(runId),
    pauseSupported: async () => true,
    async reset({ runId }) {
      await act(runId)
      return { runId: 'new', runsAgain: ['ship'] }
    },
  })
  return { engine, knownRuns: createKnownRuns({ engine }) }
}

function unexpected(): never {
  throw new Error('the run must not be changed')
}

test('reset, pause and unpause: a run that is a catalog belongs to its workers (threat 40)', async () => {
  const ports = portsOf([{ workflowName: CATALOG_TYPE }])

  const rejected = await Promise.all([
    rejection(reset(ports, RESET, aCall())),
    rejection(pause(ports, COMMAND, aCall())),
    rejection(unpause(ports, COMMAND, aCall())),
  ])

  expect(rejected.map(({ error, workflowId }) => [error, workflowId])).toEqual(
    rejected.map(() => ['ForbiddenError', 'orders-17']),
  )
})

test('pause: the next run is paused if the workflow continues as new meanwhile', async () => {
  const paused: string[] = []
  const ports = portsOf([{ runId: 'run-1' }, { runId: 'run-2' }], async (runId) => {
    paused.push(runId)
    const cause = new Error('workflow execution already completed')
    if (runId === 'run-1') throw new ServiceError('WorkflowNotRunningError', 'not running', { cause })
  })

  expect(await pause(ports, COMMAND, aCall())).toEqual({ ...REF, runId: 'run-2', paused: true })
  expect(paused).toEqual(['run-1', 'run-2'])
})

test('pause: waits until a worker has taken the pending workflow task, but not for long', async () => {
  const paused: string[] = []
  const act = async (runId: string) => void paused.push(runId)
  const taken = portsOf([{ hasUnstartedTask: true }, { hasUnstartedTask: true }, {}], act)

  expect(await pause(taken, COMMAND, aCall())).toMatchObject({ paused: true })
  const notEnabled = portsOf([{ hasUnstartedTask: true }])
  notEnabled.engine.pauseSupported = async () => false
  const rejected = await Promise.all(
    [portsOf([{ hasUnstartedTask: true }]), notEnabled].map((ports) => rejection(pause(ports, COMMAND, aCall()))),
  )

  expect(paused).toEqual(['run-1'])
  expect(rejected).toMatchObject([
    { error: 'WorkflowNotReadyError', runId: 'run-1', retryAfterSeconds: 1 },
    { error: 'NotSupportedError', runId: 'run-1' },
  ])
})

test('pause: a paused run, whose workflow task no worker can take, is not waited for', async () => {
  const paused: string[] = []
  const ports = portsOf([{ status: 'paused', hasUnstartedTask: true }], async (runId) => void paused.push(runId))

  expect(await pause(ports, COMMAND, aCall())).toMatchObject({ paused: true })
  expect(paused).toEqual(['run-1'])
})

test('reset: messages to the workflow id are checked for the new run, not for the closed one', async () => {
  const pinnedVersion = { deploymentName: 'shop', buildId: '1' }
  const ports = portsOf([{ status: 'completed', pinnedVersion }], async () => {})
  await ports.knownRuns.read(REF)

  expect(await reset(ports, RESET, aCall())).toEqual({ ...REF, runId: 'new', runsAgain: ['ship'] })

  const { value } = await ports.knownRuns.read(REF)
  expect(value).toMatchObject({ runId: 'new', open: true, pinnedVersion })
})
