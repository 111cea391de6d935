import { expect, test } from 'vitest'
import { retryActivity } from '../../../../src/service/control/repair-activity.ts'
import { ServiceError } from '../../../../src/service/model/errors.ts'
import type { Description } from '../../../../src/service/model/execution.ts'
import { aCall } from '../../call.ts'
import { aDescription, anEngine } from '../catalog-fixture.ts'

const OPEN = { activityType: 'charge', isStarted: false, isCancelRequested: false, failureMark: null, position: '2' }

/** Retries an activity of a run that is described in this way, and then in others. */
async function retried(runs: Partial<Description>[], rejects = false) {
  const sent: object[] = []
  let described = 0
  const engine = anEngine({
    describe: async () => aDescription({ openActivity: () => OPEN, ...runs[described++] }),
    endedActivity: async () => null,
    retryActivity: async (activity, retry) => {
      sent.push({ ...activity, ...retry })
      if (rejects) throw new ServiceError('ActivityNotFoundError', 'gone', { cause: new Error('gone') })
    },
  })
  const command = { ref: { workflowId: 'w' }, activityId: 'a', dropHeartbeat: true, restoreOptions: false }
  const error = await retryActivity({ engine }, command, aCall()).then(
    () => null,
    (error: ServiceError) => error.error,
  )
  return { error, sent }
}

test('retry: nothing is sent in a paused run, and while an attempt is executed', async () => {
  const refused = { error: 'WorkflowNotReadyError', sent: [] }

  expect(await retried([{ status: 'paused' }])).toEqual(refused)
  expect(await retried([{ openActivity: () => ({ ...OPEN, isStarted: true }) }])).toEqual(refused)
  expect(await retried([{}])).toMatchObject({ error: null, sent: [{ activityId: 'a', position: '2' }] })
})

test('retry: an activity that ends at this moment is looked up once more, and not retried again', async () => {
  const { error, sent } = await retried([{}, { status: 'completed' }], true)

  expect([error, sent.length]).toEqual(['WorkflowNotRunningError', 1])
})
