import type { WorkflowStartOptions } from '@temporalio/client'
import { expect, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import type { Reason } from '../../../src/service/model/explanation.ts'
import { type ApiFixture, anId, pause, SLOW_WORKER, startDirectly } from './api-fixture.ts'

const HOUR_MS = 3_600_000
const INSTANT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const AT = '\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z'

// The machine of a worker as its errors tell of it, and what the engine knows of a worker.
const MACHINE = /stackTrace|\bat \w+ \(|file:\/\/|\/srv|node_modules|\d+@[\w-]+|identity|10\.0\.0\.3/

interface Case {
  verdict: Reason['kind']
  workflowName: string
  input?: unknown
  options?: Partial<WorkflowStartOptions>
  /** Facts of the reason that decides the verdict, with its advice. */
  reason: Record<string, unknown>
  /** The kinds of the other reasons. */
  others?: Reason['kind'][]
}

const advice = (pattern: string) => ({ advice: expect.stringMatching(new RegExp(`^${pattern}$`)) })

/** GET explain: every verdict. */
export function explain(api: () => ApiFixture): void {
  const read = (id: string) => api().service.get(`${id}/explain`)

  /** Until all facts are there: an activity, for example, is scheduled before it is started. */
  async function untilVerdict(workflowId: string, verdict: string, reason: Record<string, unknown> = {}) {
    return until(`${workflowId} is ${verdict}`, async () => {
      const answer = await read(workflowId)
      expect(answer.body.verdict).toBe(verdict)
      expect(answer.body.reasons[0]).toMatchObject(reason)
      return answer
    })
  }

  const cases: (() => Case)[] = [
    () => ({
      verdict: 'workflow_task_failing',
      workflowName: 'failTaskWithPath',
      options: { workflowTaskTimeout: SLOW_WORKER },
      reason: {
        attempt: expect.any(Number),
        message: "can't read '<path>' of <worker>: connect ECONNREFUSED <address>",
        ...advice("worker reports: can't read '<path>' of <worker>: .*; deploy a worker without the error, .*"),
      },
    }),
    () => {
      const taskQueue = anId()
      return {
        verdict: 'no_workers',
        workflowName: 'nothing',
        options: { taskQueue },
        reason: {
          since: null,
          taskQueue,
          tasks: 'workflow',
          advice: `start a worker that polls task queue ${taskQueue} for workflows`,
        },
      }
    },
    () => {
      const taskQueue = anId()
      return {
        verdict: 'no_workers',
        workflowName: 'stepElsewhere',
        input: taskQueue,
        reason: {
          taskQueue,
          tasks: 'activity',
          ...advice(`start a worker that polls task queue ${taskQueue} for activities; .*`),
        },
        others: ['activity_running'],
      }
    },
    () => ({
      verdict: 'activity_retrying',
      workflowName: 'retriedLater',
      reason: {
        activityId: '1',
        name: 'alwaysFails',
        state: 'scheduled',
        attempt: 2,
        maximumAttempts: null,
        nextAttemptAt: INSTANT,
        lastFailure: { name: 'RangeError', message: 'always out of range' },
        ...advice(`worker reports: always out of range; next attempt at ${AT}`),
      },
    }),
    () => ({
      verdict: 'activity_running',
      workflowName: 'longStep',
      input: { ms: HOUR_MS },
      reason: {
        activityId: '1',
        name: 'sleeps',
        taskQueue: api().plainTaskQueue,
        state: 'started',
        attempt: 1,
        maximumAttempts: 5,
        nextAttemptAt: null,
        lastFailure: null,
        ...advice(`wait for attempt 1 of activity sleeps, running since ${AT}`),
      },
    }),
    () => {
      const workflowId = anId()
      return {
        verdict: 'waiting_child',
        workflowName: 'parent',
        input: { child: 'sleepFor', input: { ms: HOUR_MS }, workflowId },
        reason: {
          childWorkflowId: workflowId,
          childRunId: expect.any(String),
          childWorkflowName: 'sleepFor',
          ...advice(`the run waits for child workflow sleepFor \\(${workflowId}\\): .*`),
        },
      }
    },
    () => ({
      verdict: 'waiting_timer',
      workflowName: 'sleepFor',
      input: { ms: HOUR_MS },
      reason: { timerId: '1', firesAt: INSTANT, ...advice(`the timer fires at ${AT}`) },
    }),
    () => ({
      verdict: 'waiting_timer',
      workflowName: 'nothing',
      options: { startDelay: '1h' },
      reason: { timerId: null, firesAt: INSTANT, ...advice(`the run begins at ${AT}`) },
    }),
    () => ({
      verdict: 'waiting_answer',
      workflowName: 'asksPerson',
      input: {},
      reason: {
        ...{ key: 'question-1', message: 'Refund 250 EUR?', signal: 'answer', to: ['finance'] },
        schema: expect.objectContaining({ required: ['approved'] }),
        since: '2026-11-28T08:00:00.000Z',
        due: '2026-12-01T08:00:00.000Z',
        action: { method: 'POST', path: expect.stringMatching(/\/questions\/question-1\/answer$/), body: null },
      },
    }),
    () => ({
      verdict: 'waiting_handler',
      workflowName: 'messages',
      options: { taskQueue: api().catalog },
      reason: {
        since: INSTANT,
        signals: ['add', 'finish'],
        updates: ['set', 'validated'],
        advice: 'send signal add or signal finish or update set or update validated',
      },
    }),
    () => ({
      verdict: 'waiting_handler',
      workflowName: 'messages',
      reason: { signals: null, updates: null, advice: 'send a signal or an update that the workflow handles' },
    }),
  ]

  test('explain: every verdict, with its facts and advice', async () => {
    await Promise.all(
      cases.map(async (make) => {
        const { verdict, workflowName, input = null, options, reason, others = [] } = make()
        const { workflowId, firstExecutionRunId: runId } = await startDirectly(api(), workflowName, {
          args: [input],
          ...options,
        })

        const { status, body, text } = await untilVerdict(workflowId, verdict, reason)
        const { body: pinned } = await read(`${workflowId}/runs/${runId}`)
        await api().service.post(`${workflowId}/terminate`)

        expect([status, pinned.verdict]).toEqual([200, verdict])
        const [first] = body.reasons
        const since = verdict === 'no_workers' ? null : INSTANT
        expect(first.since).toEqual(since)
        const run = expect.objectContaining({
          workflowId,
          runId,
          workflowName,
          problem:
            verdict === 'workflow_task_failing'
              ? { kind: verdict, since, attempt: first.attempt, message: first.message }
              : null,
        })
        expect(body).toEqual({ workflowId, runId, verdict, since: first.since, reasons: expect.any(Array), run })
        expect(body.reasons.slice(1).map(({ kind }: Reason) => kind)).toEqual(others)
        expect(text).not.toMatch(MACHINE)
      }),
    )
  })

  test('explain: a paused run with a requested cancellation has both reasons, and that of what it does', async () => {
    const { workflowId } = await startDirectly(api(), 'longStep', { args: [{ ms: HOUR_MS }] })
    await untilVerdict(workflowId, 'activity_running')
    await pause(api(), workflowId)
    await api().service.call('PATCH', `/workflow/${workflowId}/stop`)

    const { body } = await untilVerdict(workflowId, 'paused')

    expect(body.reasons.map(({ kind }: Reason) => kind)).toEqual(['paused', 'canceling', 'activity_running'])
    expect(body.reasons.map(({ since }: Reason) => since)).toEqual([INSTANT, INSTANT, INSTANT])
    expect(body.reasons[0].advice).toMatch(/^paused: a test; unpause the run: /)
    const { method, path } = body.reasons[0].action
    expect(path).toBe(`/workflow/${workflowId}/runs/${body.runId}/unpause`)
    const { status } = await api().service.call(method, path)
    await api().service.post(`${workflowId}/terminate`)
    expect(status).toBe(200)
  })

  test('explain: a run that cleans up is canceling, and then closed', async () => {
    const { workflowId, firstExecutionRunId: runId } = await startDirectly(api(), 'cleansUp', {
      args: [{ ms: HOUR_MS }],
    })
    await untilVerdict(workflowId, 'waiting_handler')
    await api().service.call('PATCH', `/workflow/${workflowId}/stop`)

    const { body } = await untilVerdict(workflowId, 'canceling')
    await api().service.post(`${workflowId}/terminate`)
    const { body: closed } = await read(workflowId)
    const { body: run } = await api().service.get(`${workflowId}/status`)

    expect(body.reasons[0]).toMatchObject({ kind: 'canceling', since: INSTANT, ...advice('cancellation was .*') })
    const action = { method: 'GET', path: `/workflow/${workflowId}/runs/${runId}/result`, body: null }
    const reason = { kind: 'closed', since: INSTANT, status: 'terminated', advice: 'get the result of the run', action }
    expect(closed).toEqual({ workflowId, runId, verdict: 'closed', since: INSTANT, reasons: [reason], run })
    expect(run.status).toBe('terminated')
  })

  test('explain: a run whose workflow a worker is executing is healthy', async () => {
    const taskQueue = anId()
    const { workflowId } = await startDirectly(api(), 'nothing', { taskQueue, workflowTaskTimeout: '2m' })
    // A worker that keeps the task. The engine lists no poller without an identity.
    const poll = { namespace: 'default', taskQueue: { name: taskQueue } }
    const { client } = api()
    await client.withDeadline(Date.now() + 60_000, () => client.connection.workflowService.pollWorkflowTaskQueue(poll))

    const { body } = await read(workflowId)
    await api().service.post(`${workflowId}/terminate`)

    const workflowTask = { scheduledAt: INSTANT, startedAt: INSTANT }
    const advice = 'wait: a worker is executing the workflow'
    expect(body.reasons).toEqual([{ kind: 'healthy', since: INSTANT, workflowTask, advice, action: null }])
  })

  test('explain: a task that no worker takes waits for one, although its task queue was polled just now', async () => {
    const taskQueue = anId()
    const { client } = api()
    const started = () => startDirectly(api(), 'nothing', { taskQueue, workflowTaskTimeout: '2m' })
    const taken = await started()
    const poll = { namespace: 'default', taskQueue: { name: taskQueue }, identity: 'worker' }
    await client.withDeadline(Date.now() + 60_000, () => client.connection.workflowService.pollWorkflowTaskQueue(poll))
    const { workflowId } = await started()
    await api().service.post(`${workflowId}/signal/approve`)

    const { body } = await untilVerdict(workflowId, 'waiting_worker')
    const { body: busy } = await read(taken.workflowId)
    await Promise.all([taken, { workflowId }].map((run) => api().service.post(`${run.workflowId}/terminate`)))

    expect(body.reasons).toEqual([
      {
        kind: 'waiting_worker',
        since: INSTANT,
        taskQueue,
        tasks: 'workflow',
        lastPolledAt: INSTANT,
        messages: ['signal approve'],
        ...advice(`no worker has polled task queue ${taskQueue} since then, and signal approve must wait: .*`),
        action: null,
      },
    ])
    expect(busy.verdict).toBe('healthy')
  })
}
