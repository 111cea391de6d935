import { describe, expect, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import type { PendingWork } from '../../../src/domain/explain/pending-work.ts'
import type { RunRef } from '../../../src/protocol/run-ref.ts'
import { call, engineFixture, type MakeTransport } from './engine-fixture.ts'

const HOUR_MS = 3_600_000

/** What open runs wait for. */
export function describePendingWork(name: string, makeTransport: MakeTransport): void {
  describe.concurrent(`engine over ${name}: what a run waits for`, () => {
    const fixture = engineFixture(makeTransport)

    async function read(run: RunRef): Promise<PendingWork | undefined> {
      return (await fixture.engine.describe(run, call())).pendingWork?.(call())
    }

    /** Starts the workflow, reads what it waits for once that is so, and terminates it. */
    async function waitingRun(workflowName: string, input: unknown, isSo: (work: PendingWork) => boolean) {
      const run = await fixture.start(workflowName, input)
      const work = await until(`${workflowName} waits`, async () => {
        const found = await read(run)
        return found !== undefined && isSo(found) ? found : null
      })
      await fixture.engine.terminate(run, null, call())
      return work
    }

    const idle = {
      paused: null,
      canceling: null,
      workflowTask: null,
      problem: null,
      activities: [],
      children: [],
      timers: [],
      waitsForNexus: false,
      idleSince: expect.any(Date),
      readFromStart: true,
    }

    test('pendingWork: of a run that waits for a message', async () => {
      const work = await waitingRun('messages', null, ({ idleSince }) => idleSince !== null)

      expect(work).toEqual(idle)
    })

    test('pendingWork: a timer, with the time when it fires', async () => {
      const work = await waitingRun('sleepFor', { ms: HOUR_MS }, ({ timers }) => timers.length > 0)

      expect(work).toEqual({
        ...idle,
        timers: [{ timerId: '1', since: expect.any(Date), firesAt: expect.any(Date) }],
      })
      expect(Number(work.timers[0]?.firesAt) - Number(work.timers[0]?.since)).toBe(HOUR_MS)
    })

    test('pendingWork: a child, once it has started', async () => {
      const workflowId = crypto.randomUUID()
      const input = { child: 'neverEnds', input: null, workflowId }
      const work = await waitingRun('parent', input, ({ children }) =>
        children.some(({ childRunId }) => childRunId !== null),
      )

      expect(work.children).toEqual([
        {
          childWorkflowId: workflowId,
          childRunId: expect.any(String),
          childWorkflowName: 'neverEnds',
          since: expect.any(Date),
        },
      ])
    })

    test('pendingWork: an activity that a worker executes', async () => {
      const isSo = ({ activities }: PendingWork) => activities.some(({ state }) => state === 'started')
      const work = await waitingRun('longStep', { ms: HOUR_MS }, isSo)

      expect(work.activities).toEqual([
        {
          activityId: '1',
          name: 'sleeps',
          taskQueue: fixture.taskQueue,
          state: 'started',
          attempt: 1,
          maximumAttempts: 5,
          since: expect.any(Date),
          nextAttemptAt: null,
          lastFailure: null,
        },
      ])
    })

    test('pendingWork: an activity that waits for its next attempt, with its last failure', async () => {
      const isSo = ({ activities }: PendingWork) => activities.some(({ nextAttemptAt }) => nextAttemptAt !== null)
      const work = await waitingRun('retriedLater', null, isSo)

      expect(work.activities).toEqual([
        {
          activityId: '1',
          name: 'alwaysFails',
          taskQueue: fixture.taskQueue,
          state: 'scheduled',
          attempt: 2,
          maximumAttempts: null,
          since: expect.any(Date),
          nextAttemptAt: expect.any(Date),
          lastFailure: { name: 'RangeError', message: 'always out of range' },
        },
      ])
      const [activity] = work.activities
      expect(Number(activity?.nextAttemptAt) - Number(activity?.since)).toBe(HOUR_MS)
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

    test('pendingWork: the failure of a workflow task', async () => {
      const work = await waitingRun('failTaskWithPath', null, ({ problem }) => problem !== null)

      expect(work.problem).toEqual({
        kind: 'workflow_task_failing',
        attempt: expect.any(Number),
        since: expect.any(Date),
        message: "can't read '<path>' of <worker>: connect ECONNREFUSED <address>",
      })
    })

    test('pendingWork: a pause, and a cancellation that was requested', async () => {
      const run = await fixture.start('neverEnds')
      const request = { namespace: 'default', ...run, identity: 'test', reason: 'a test' }
      await fixture.connection.workflowService.pauseWorkflowExecution({ ...request, requestId: crypto.randomUUID() })
      await fixture.engine.cancel(run, { reason: null, pinned: true }, call())

      const work = await read(run)
      await fixture.engine.terminate(run, null, call())

      expect(work).toMatchObject({ paused: { since: expect.any(Date) }, canceling: { since: expect.any(Date) } })
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

    test('pendingWork: a closed run waits for nothing', async () => {
      const run = await fixture.start('nothing')
      await fixture.closed(run)

      expect((await fixture.engine.describe(run, call())).pendingWork).toBeUndefined()
    })
  })
}
