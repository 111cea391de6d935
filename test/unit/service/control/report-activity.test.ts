import { expect, test } from 'vitest'
import { completeActivity, failActivity, heartbeatActivity } from '../../../../src/service/control/report-activity.ts'
import type { ActivityReport, EndedActivity } from '../../../../src/service/model/activity.ts'
import { ServiceError } from '../../../../src/service/model/errors.ts'
import type { OpenActivity } from '../../../../src/service/model/execution.ts'
import type { Status } from '../../../../src/shared/wire/execution.ts'
import { aCall as call } from '../../call.ts'
import { aDescription, anEngine } from '../catalog-fixture.ts'

const OPEN: OpenActivity = {
  activityType: 'approve',
  isStarted: true,
  isCancelRequested: false,
  failureMark: null,
  position: '',
}

interface State {
  /** What each description says, one after the other. */
  open: readonly (OpenActivity | null)[]
  statuses?: readonly Status[]
  ended?: EndedActivity
  rejects?: boolean
}

function portsOf({ open, statuses = [], ended, rejects = false }: State) {
  const described: object[] = []
  const sent: [ActivityReport, string][] = []
  const engine = anEngine({
    describe: async (ref) => {
      described.push(ref)
      const at = described.length - 1
      const status = statuses[at] ?? 'running'
      return aDescription({ ...ref, runId: 'r1', status, openActivity: () => open[at] ?? null })
    },
    endedActivity: async () => ended ?? null,
    reportActivity: async (_, report, mark) => {
      sent.push([report, mark])
      if (rejects) throw new ServiceError('ActivityNotFoundError', 'gone', { cause: new Error('gone') })
      return { cancelRequested: true }
    },
  })
  return { ports: { engine }, described, sent }
}

const command = { ref: { workflowId: 'w' }, activityId: 'a' }

test('complete: without an output the engine gets no value, and null is one', async () => {
  const { ports, sent } = portsOf({ open: [OPEN, OPEN] })

  await completeActivity(ports, command, call())
  await completeActivity(ports, { ...command, output: null }, call())

  expect(sent.map(([report]) => report)).toEqual([
    { kind: 'complete', values: [] },
    { kind: 'complete', values: [null] },
  ])
  expect(new Set(sent.map(([, mark]) => mark)).size).toBe(2)
})

test('complete: the mark of a key depends on the key, the verb and the activity', async () => {
  const { ports, sent } = portsOf({ open: [OPEN, OPEN, OPEN, OPEN] })
  const failure = { message: 'no' }

  await completeActivity(ports, { ...command, idempotencyKey: 'k' }, call())
  await completeActivity(ports, { ...command, idempotencyKey: 'k', activityId: 'b' }, call())
  await completeActivity(ports, { ...command, idempotencyKey: 'l' }, call())
  await failActivity(ports, { ...command, idempotencyKey: 'k', failure }, call())

  const marks = sent.map(([, mark]) => mark)
  expect(new Set(marks).size).toBe(4)
  expect(marks).toEqual(marks.map(() => expect.stringMatching(/^key-[\da-f]{32}$/)))
})

test('complete: an activity that ends at this moment is looked up once more, in the same run, and not sent to another', async () => {
  const { ports, described, sent } = portsOf({ open: [OPEN, null], statuses: ['running', 'completed'], rejects: true })

  const completing = completeActivity(ports, command, call())

  await expect(completing).rejects.toMatchObject({ error: 'WorkflowNotRunningError' })
  expect(described).toEqual([{ workflowId: 'w' }, { workflowId: 'w', runId: 'r1' }])
  expect(sent.length).toBe(1)
})

test('complete: a caller who may not complete the type gets the error of a missing activity, even if its key is known (threat 39)', async () => {
  const ended = { activityType: 'approve', completed: true, isMarked: true }
  const admits = () => false
  const { ports, sent } = portsOf({ open: [null, OPEN], ended })

  const over = completeActivity(ports, { ...command, idempotencyKey: 'k', admits }, call())
  await expect(over).rejects.toMatchObject({ error: 'ActivityNotFoundError', details: { activityId: 'a' } })
  await over.catch(({ details }) => expect(details).not.toHaveProperty('completed'))
  await expect(heartbeatActivity(ports, { ...command, admits }, call())).rejects.toMatchObject({
    error: 'ActivityNotFoundError',
  })

  expect(sent).toEqual([])
})

test('heartbeat: an attempt that has not started gets none, and the response says whether to stop', async () => {
  const { ports, sent } = portsOf({ open: [{ ...OPEN, isStarted: false }, OPEN] })

  await expect(heartbeatActivity(ports, command, call())).rejects.toMatchObject({ error: 'WorkflowNotReadyError' })
  const beat = await heartbeatActivity(ports, { ...command, details: 1 }, call())

  expect(beat).toEqual({ workflowId: 'w', runId: 'r1', activityId: 'a', cancelRequested: true })
  expect(sent.map(([report]) => report)).toEqual([{ kind: 'heartbeat', values: [1] }])
})
