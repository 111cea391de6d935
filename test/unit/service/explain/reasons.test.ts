import { describe, expect, test } from 'vitest'
import { type RunFacts, reasonsOf } from '../../../../src/service/explain/reasons.ts'
import type { PendingWork } from '../../../../src/service/model/pending-work.ts'
import type { OpenAsk } from '../../../../src/service/model/question.ts'
import { STARTED_ACTIVITY as activity, IDLE_WORK } from './idle-work.ts'

const AT = IDLE_WORK.idleSince
const LATER = new Date('2026-11-21T03:55:53.503Z')

const polled = { taskQueue: 'orders', tasks: 'workflow', isPolled: true, lastPolledAt: AT, waitsSince: null } as const
const approve = { name: 'approve', description: null, inputSchema: null, inputOptional: null, outputSchema: null }

function reasons(work: Partial<PendingWork>, facts: Partial<RunFacts> = {}) {
  const known = { queue: polled, handlers: null, asks: new Map(), now: Number(AT) }
  return reasonsOf({ work: { ...IDLE_WORK, ...work }, ...known, ...facts })
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
      paused: { since: AT, reason: null },
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

  test('questions: each is a reason, before what runs, and says whom it is for and until when', () => {
    const ask = { signal: 'answer', message: 'Refund?', schema: {}, to: ['finance'], askedAt: AT, due: LATER }
    const plain = { ...ask, message: 'Ship?', to: null, askedAt: null, due: null }
    const asks = new Map<string, OpenAsk>([
      ['k1', ask],
      ['k2', plain],
    ])
    const { askedAt: _, ...shown } = ask

    expect(reasons({}, { asks: new Map([['k1', ask]]) })).toEqual([
      {
        ...{ kind: 'waiting_answer', since: AT, key: 'k1' },
        ...shown,
        advice: 'answer the question for finance, until 2026-11-21T03:55:53.503Z: Refund?',
      },
    ])
    expect(reasons({}, { asks }).map(({ advice }) => advice)[1]).toBe('answer the question: Ship?')
    expect(kinds({ activities: [activity] }, { asks })).toEqual([
      'waiting_answer',
      'waiting_answer',
      'activity_running',
    ])
    expect(kinds({}, { asks, handlers: { signals: [approve], updates: [] } }).at(-1)).toBe('waiting_handler')
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
      'unpause activity charge',
      'unpause activity charge',
    ])
  })

  test('pauses: the advice has the reason, if there is one', () => {
    const paused = { ...activity, state: 'paused', pauseReason: 'the bank is closed' } as const

    expect(advice({ activities: [paused] })).toBe('paused: the bank is closed; unpause activity charge')
    expect(reasons({ activities: [paused] })[0]).not.toHaveProperty('pauseReason')
    expect([null, 'the bank is closed'].map((reason) => reasons({ paused: { since: AT, reason } })[0])).toEqual(
      ['', 'paused: the bank is closed; '].map((why) => ({
        kind: 'paused',
        since: AT,
        advice: `${why}unpause the run: until then no worker gets its tasks`,
      })),
    )
  })

  test('handlers: a run with a timer waits for a message only if its workflow publishes handlers', () => {
    const timers = [{ timerId: '1', since: AT, firesAt: LATER }]
    const handlers = { signals: [approve], updates: [] }

    expect(kinds({ timers })).toEqual(['waiting_timer'])
    expect(kinds({ timers }, { handlers: { signals: [], updates: [] } })).toEqual(['waiting_timer'])
    expect(kinds({ timers }, { handlers })).toEqual(['waiting_handler', 'waiting_timer'])
    expect(advice({ timers }, { handlers })).toBe(
      'send signal approve, or wait until the timer at 2026-11-21T03:55:53.503Z',
    )
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

  test('workers: a task that none has taken for two seconds waits, whatever the workers do', () => {
    const waitsSince = AT
    const queue = { ...polled, waitsSince, lastPolledAt: new Date(Number(AT) - 1) }
    const now = Number(AT) + 2000
    const work = { workflowTask: { scheduledAt: AT, startedAt: null }, waitingSignals: ['approve', 'hurry'] }

    expect(kinds(work, { queue, now: now - 1 })).toEqual(['healthy'])
    expect(reasons(work, { queue, now })).toEqual([
      {
        kind: 'waiting_worker',
        since: AT,
        taskQueue: 'orders',
        tasks: 'workflow',
        lastPolledAt: queue.lastPolledAt,
        messages: ['signal approve', 'signal hurry'],
        advice:
          'no worker has polled task queue orders since then, and signal approve and signal hurry must wait: start a worker, or check whether the workers are at their limit',
      },
    ])
    expect(advice({}, { queue, now })).toBe(
      'no worker has polled task queue orders since then: start a worker, or check whether the workers are at their limit',
    )
    expect(advice(work, { queue: { ...queue, lastPolledAt: AT }, now })).toBe(
      'workers poll task queue orders but are behind, and signal approve and signal hurry must wait: wait, or start more workers',
    )
    expect(kinds({ paused: { since: AT, reason: null } }, { queue, now })).toEqual(['paused', 'waiting_handler'])
    expect(kinds({}, { queue: { ...queue, isPolled: false }, now })[0]).toBe('no_workers')
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
