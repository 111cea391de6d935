import { describe, expect, test } from 'vitest'
import { type RunFacts, reasonsOf } from '../../../../src/domain/explain/reasons.ts'
import type { PendingWork } from '../../../../src/domain/model/pending-work.ts'
import { STARTED_ACTIVITY as activity, IDLE_WORK } from './idle-work.ts'

const AT = IDLE_WORK.idleSince
const LATER = new Date('2026-11-21T03:55:53.503Z')

const polled = { taskQueue: 'orders', tasks: 'workflow', isPolled: true, lastPolledAt: AT } as const
const approve = { name: 'approve', description: null, inputSchema: null, inputOptional: null, outputSchema: null }

function reasons(work: Partial<PendingWork>, facts: Partial<RunFacts> = {}) {
  return reasonsOf({ work: { ...IDLE_WORK, ...work }, queue: polled, handlers: null, ...facts })
}
const kinds = (...args: Parameters<typeof reasons>) => reasons(...args).map(({ kind }) => kind)
const advice = (...args: Parameters<typeof reasons>) => reasons(...args)[0].advice

describe('reasonsOf', () => {
  test('lists all that hold, in the order in which they decide the verdict', () => {
    const work: Partial<PendingWork> = {
      timers: [{ timerId: '1', since: AT, firesAt: LATER }],
      children: [{ childWorkflowId: 'c', childRunId: 'r', childWorkflowName: 'ship', since: AT }],
      activities: [activity, { ...activity, activityId: '2', attempt: 3 }],
      canceling: { since: AT },
      problem: { kind: 'workflow_task_failing', attempt: 2, since: AT, message: 'a bug' },
      paused: { since: AT },
      workflowTask: { scheduledAt: AT, startedAt: null },
    }

    expect(kinds(work, { queue: { ...polled, isPolled: false } })).toEqual([
      'paused',
      'workflow_task_failing',
      'no_workers',
      'canceling',
      'activity_retrying',
      'activity_running',
      'waiting_child',
      'waiting_timer',
    ])
  })

  test('activities: the advice says what happens next', () => {
    const next = { ...activity, state: 'scheduled', attempt: 2, nextAttemptAt: LATER } as const
    const failed = { lastFailure: { name: 'Error', message: 'card declined' } }
    const states = ['scheduled', 'started', 'cancel_requested', 'paused', 'pause_requested'] as const

    expect(advice({ activities: [{ ...next, ...failed }] })).toBe(
      'worker reports: card declined; next attempt at 2026-11-21T03:55:53.503Z',
    )
    expect(advice({ activities: [{ ...activity, attempt: 2, ...failed }] })).toBe(
      'worker reports: card declined; wait for attempt 2 of activity charge, running since 2026-11-21T02:55:53.503Z',
    )
    const timeout = { lastFailure: { name: 'TimeoutFailure', message: 'activity Heartbeat timeout' } }
    expect(advice({ activities: [{ ...next, ...timeout }] })).toBe(
      'last attempt: activity Heartbeat timeout; next attempt at 2026-11-21T03:55:53.503Z',
    )
    expect(states.map((state) => advice({ activities: [{ ...activity, state }] }))).toEqual([
      'activity charge waits for a worker that polls task queue orders',
      'wait for attempt 1 of activity charge, running since 2026-11-21T02:55:53.503Z',
      'cancellation of activity charge was requested: it ends when its code handles that',
      'unpause activity charge in the engine',
      'unpause activity charge in the engine',
    ])
  })

  test('handlers: a run with a timer waits for a message only if its workflow publishes handlers', () => {
    const timers = [{ timerId: '1', since: AT, firesAt: LATER }]
    const handlers = { signals: [approve], updates: [] }

    expect(kinds({ timers })).toEqual(['waiting_timer'])
    expect(kinds({ timers }, { handlers: { signals: [], updates: [] } })).toEqual(['waiting_timer'])
    expect(kinds({ timers }, { handlers })).toEqual(['waiting_timer', 'waiting_handler'])
    expect(kinds({ timers: [{ timerId: null, since: AT, firesAt: LATER }] }, { handlers })).toEqual(['waiting_timer'])
  })

  test('handlers: the advice names the first five, or says that none is known', () => {
    const signals = ['a', 'b', 'c', 'd'].map((name) => ({ ...approve, name }))
    const updates = ['e', 'f'].map((name) => ({ ...approve, name }))

    expect(advice({}, { handlers: { signals: [approve], updates: [] } })).toBe('send signal approve')
    expect(advice({}, { handlers: { signals, updates } })).toBe(
      'send signal a or signal b or signal c or signal d or update e',
    )
    expect(advice({})).toBe('send a signal or an update that the workflow handles')
    expect(advice({ readFromStart: false })).toBe(
      'send a signal or an update that the workflow handles; timers from before the last events of the history are not known',
    )
  })

  test('a run that waits for nothing but its workers is healthy', () => {
    const workflowTask = { scheduledAt: AT, startedAt: null }

    expect(reasons({ workflowTask })).toEqual([
      { kind: 'healthy', since: AT, workflowTask, advice: 'wait: a worker is about to continue the run' },
    ])
    expect(advice({ workflowTask: { scheduledAt: AT, startedAt: LATER } })).toBe(
      'wait: a worker is executing the workflow',
    )
    expect(kinds({ waitsForNexus: true })).toEqual(['healthy'])
  })

  test('a worker that executes the workflow need not poll', () => {
    const queue = { ...polled, isPolled: false }
    const workflowTask = { scheduledAt: AT, startedAt: LATER }

    expect(kinds({ workflowTask }, { queue })).toEqual(['healthy'])
    expect(kinds({ workflowTask: { ...workflowTask, startedAt: null } }, { queue })).toEqual(['no_workers'])
  })
})
