import type { temporal } from '@temporalio/proto'
import { expect, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import type { PendingWork } from '../../../src/service/model/pending-work.ts'
import { toDate } from '../../../src/shared/temporal/time.ts'
import type { RunRef } from '../../../src/shared/wire/run-ref.ts'
import { IDLE_WORK } from '../../unit/service/explain/idle-work.ts'
import { call, type EngineFixture } from './engine-fixture.ts'

const HOUR_MS = 3_600_000

/** What open runs wait for. */
export function pendingWork(fixture: EngineFixture): void {
  async function read(run: RunRef): Promise<PendingWork | undefined> {
    return (await fixture.engine.describe(run, call())).pendingWork?.(call())
  }

  /** Starts the workflow, reads what it waits for once that is so, and terminates it. */
  async function waitingRun(
    workflowName: string,
    input: unknown,
    isSo: (work: PendingWork) => boolean,
    beforeEnd?: (run: RunRef) => Promise<unknown>,
  ) {
    const run = await fixture.start(workflowName, input)
    const work = await until(`${workflowName} waits`, async () => {
      const found = await read(run)
      return found !== undefined && isSo(found) ? found : null
    })
    await beforeEnd?.(run)
    await fixture.engine.terminate(run, null, call())
    return work
  }

  const idle = { ...IDLE_WORK, idleSince: expect.any(Date) }

  test('pendingWork: of a run that waits for a message', async () => {
    const work = await waitingRun('messages', null, ({ idleSince }) => idleSince !== null)

    expect(work).toEqual(idle)
  })

  test('pendingWork: a timer, with the time when it fires', async () => {
    const work = await waitingRun('sleepFor', { ms: HOUR_MS }, ({ timers }) => timers.length > 0)

    expect(work).toEqual({ ...idle, timers: [{ timerId: '1', since: expect.any(Date), firesAt: expect.any(Date) }] })
    expect(Number(work.timers[0]?.firesAt) - Number(work.timers[0]?.since)).toBe(HOUR_MS)
  })

  test('pendingWork: an activity that waits for its next attempt, with its last failure', async () => {
    const isSo = ({ activities }: PendingWork) => activities.some(({ nextAttemptAt }) => nextAttemptAt !== null)
    let raw: temporal.api.workflow.v1.IPendingActivityInfo | undefined
    const work = await waitingRun('retriedLater', null, isSo, async (execution) => {
      const { workflowService } = fixture.connection
      const described = await workflowService.describeWorkflowExecution({ namespace: 'default', execution })
      raw = described.pendingActivities?.[0]
    })

    expect(work.activities).toEqual([
      {
        activityId: '1',
        name: 'alwaysFails',
        taskQueue: fixture.taskQueue,
        state: 'scheduled',
        pauseReason: null,
        attempt: 2,
        maximumAttempts: null,
        since: expect.any(Date),
        nextAttemptAt: expect.any(Date),
        lastFailure: { name: 'RangeError', message: 'always out of range' },
      },
    ])
    const [activity] = work.activities
    // The engine reads its clock once for each of the two times, which are an hour apart.
    expect(activity?.nextAttemptAt).toEqual(toDate(raw?.nextAttemptScheduleTime))
    expect(activity?.since).toEqual(toDate(raw?.lastAttemptCompleteTime))
    expect(Math.round((Number(activity?.nextAttemptAt) - Number(activity?.since)) / 1000)).toBe(HOUR_MS / 1000)
  })

  test('pendingWork: an activity that no worker has taken', async () => {
    const taskQueue = crypto.randomUUID()
    const work = await waitingRun('stepElsewhere', taskQueue, ({ activities }) => activities.length > 0)

    expect(work.activities).toMatchObject([
      { taskQueue, state: 'scheduled', attempt: 1, nextAttemptAt: null, lastFailure: null },
    ])
    expect(await fixture.engine.lastPolledAt(taskQueue, call(), 'activity')).toBeNull()
    expect(await fixture.engine.lastPolledAt(fixture.taskQueue, call(), 'activity')).toBeInstanceOf(Date)
  })

  test('pendingWork: a workflow task that no worker has taken', async () => {
    const request = { workflowId: crypto.randomUUID(), workflowName: 'nothing', args: [] }
    const run = await fixture.engine.start({ ...request, catalog: crypto.randomUUID() }, call())

    const work = await read(run)
    await fixture.engine.terminate(run, null, call())

    const workflowTask = { scheduledAt: expect.any(Date), startedAt: null }
    expect(work).toEqual({ ...idle, workflowTask, idleSince: null })
  })

  test('pendingWork: a closed run waits for nothing', async () => {
    const run = await fixture.start('nothing')
    await fixture.closed(run)

    expect((await fixture.engine.describe(run, call())).pendingWork).toBeUndefined()
  })

  test('pendingWork: is as old as the description, whatever the history says since', async () => {
    const run = await fixture.start('messages')
    await until('it waits', async () => (await read(run))?.idleSince)
    const before = await fixture.engine.describe(run, call())

    await fixture.engine.update(run, { name: 'set', args: [1] }, crypto.randomUUID(), call())
    const [first, later] = await Promise.all([before.pendingWork?.(call()), read(run)])
    await fixture.engine.terminate(run, null, call())

    expect(Number(first?.idleSince)).toBeLessThan(Number(later?.idleSince))
  })
}
