import { expect, test } from 'vitest'
import { actionFor } from '../../../../src/service/explain/actions.ts'
import type { Reason } from '../../../../src/service/model/explanation.ts'

const run = { workflowId: 'orders/17', runId: 'r1', workflowName: 'order', status: 'running' as const }
const activity = {
  ...{ activityId: 'a/1', name: 'charge', taskQueue: 'orders', attempt: 2, maximumAttempts: null, lastFailure: null },
  ...{ state: 'scheduled' as const, nextAttemptAt: new Date(0) },
}
const repair = { verb: 'repair', handler: 'charge', workflowId: 'orders/17', workflowName: 'order' }
const path = '/workflow/orders%2F17/runs/r1/activities/a%2F1'
const facts = { since: null, advice: '' }
const child = { childWorkflowId: 'c', childRunId: 'r2', childWorkflowName: 'ship' }

const CASES: [Reason, path: string | null, needs: object | null][] = [
  [{ kind: 'closed', status: 'failed', ...facts }, '/workflow/orders%2F17/runs/r1/result', null],
  [{ kind: 'closed', status: 'continued', ...facts }, '/workflow/orders%2F17/explain', null],
  [
    { kind: 'paused', ...facts },
    '/workflow/orders%2F17/runs/r1/unpause',
    { verb: 'pause', workflowId: 'orders/17', workflowName: 'order' },
  ],
  [
    { kind: 'waiting_child', ...child, ...facts },
    '/workflow/c/runs/r2/explain',
    { verb: 'read', workflowId: 'c', workflowName: 'ship' },
  ],
  [{ kind: 'waiting_child', ...child, childRunId: null, ...facts }, null, null],
  [
    {
      ...{ kind: 'waiting_answer', key: 'k/1', signal: 'answer', message: 'Refund?', schema: {}, to: null, due: null },
      ...facts,
    },
    '/workflow/orders%2F17/runs/r1/questions/k%2F1/answer',
    { verb: 'signal', handler: 'answer', workflowId: 'orders/17', workflowName: 'order' },
  ],
  [{ kind: 'canceling', ...facts }, null, null],
  [{ kind: 'activity_retrying', ...activity, ...facts }, `${path}/retry`, repair],
  [{ kind: 'activity_retrying', ...activity, nextAttemptAt: null, ...facts }, null, null],
  [{ kind: 'activity_running', ...activity, state: 'started', nextAttemptAt: null, ...facts }, null, null],
  [
    { kind: 'activity_retrying', ...activity, state: 'paused', nextAttemptAt: null, ...facts },
    `${path}/unpause`,
    repair,
  ],
  [{ kind: 'activity_running', ...activity, state: 'pause_requested', ...facts }, `${path}/unpause`, repair],
]

test('an activity of a paused run has no retry, which would be rejected', () => {
  const reason = { kind: 'activity_retrying', ...activity, ...facts } as const

  expect(actionFor(reason, { ...run, status: 'paused' }, () => true)).toBeNull()
})

test.each(CASES)('%j has an action only for callers with its right', (reason, path, needs) => {
  const asked: object[] = []
  const ask = (answer: boolean) => (request: object) => {
    asked.push(request)
    return answer
  }

  const allowed = actionFor(reason, run, ask(true))?.path ?? null
  const denied = actionFor(reason, run, ask(false))?.path ?? null

  expect([allowed, denied]).toEqual([path, needs === null ? path : null])
  expect(asked).toEqual(needs === null ? [] : [needs, needs])
})
