import { expect, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { type ApiFixture, anId, untilStatus } from './api-fixture.ts'

/** POST complete, fail, cancel and heartbeat of activities that complete outside their worker. */
export function activities(api: () => ApiFixture): void {
  const post = (path: string, body?: unknown, headers: Record<string, string> = {}) =>
    api().service.post(path, body, headers)
  const get = (path: string) => api().service.get(path)
  const key = (name: string) => ({ 'Idempotency-Key': name })

  /** A run whose activity `approval` waits for its completion; the second path is that of the activity. */
  async function waiting(input: object = {}) {
    const { body: run } = await api().service.start('completesOutside', input, { workflowId: anId() })
    const activity = `${run.workflowId}/activities/approval`
    await untilOpen(activity)
    return { workflowId: String(run.workflowId), runId: String(run.runId), activity }
  }

  const untilOpen = (activity: string) =>
    until('the activity waits', async () => (await post(`${activity}/heartbeat`)).status === 200)

  const outcomeOf = async (workflowId: string) => {
    const { body } = await get(`${workflowId}/result?wait=60s`)
    return [body.status, body.output ?? body.errorDetails]
  }

  test('complete: the activity returns the output, exactly as it was sent', async () => {
    const [run, empty] = [await waiting(), await waiting()]

    const completed = await post(
      `${run.activity}/complete`,
      '{"output":{"id":9007199254740993,"price":0.12345678901234567890}}',
    )
    const { workflowId, runId } = empty
    const pinned = await post(`${workflowId}/runs/${runId}/activities/approval/complete`)

    expect([completed.status, completed.body]).toEqual([
      200,
      { workflowId: run.workflowId, runId: run.runId, activityId: 'approval', completed: true },
    ])
    expect([pinned.status, pinned.body]).toEqual([200, { workflowId, runId, activityId: 'approval', completed: true }])
    await untilStatus(api(), run.workflowId, 'completed')
    // The workflow code rounds the numbers: it parses JSON as JavaScript does.
    const { text } = await get(`${run.workflowId}/history?pageSize=1000`)
    expect(text).toContain('"result":[{"id":9007199254740993,"price":0.12345678901234567890}]')
    expect(await outcomeOf(workflowId)).toEqual(['completed', [null]])
  })

  test('complete: again it is 404 with completed, as is an id that was never scheduled, without', async () => {
    const { workflowId, runId, activity } = await waiting({ staysOpen: true })
    await post(`${activity}/complete`, { output: 1 })

    const answers = [
      await post(`${activity}/complete`, { output: 2 }),
      await post(`${activity}/fail`, { message: 'late' }),
      await post(`${activity}/heartbeat`),
      await post(`${workflowId}/activities/other/complete`),
    ]

    const ids = { workflowId, runId }
    expect(
      answers.map(({ status, body: { error, workflowId, runId, activityId, completed } }) => [
        status,
        error,
        { workflowId, runId, activityId, completed },
      ]),
    ).toEqual([
      ...[0, 1, 2].map(() => [404, 'ActivityNotFoundError', { ...ids, activityId: 'approval', completed: true }]),
      [404, 'ActivityNotFoundError', { ...ids, activityId: 'other', completed: undefined }],
    ])
    await post(`${workflowId}/terminate`)
  })

  test('complete: a closed run is 409 and says whether the activity has completed; a missing one is 404', async () => {
    const [done, terminated] = [await waiting(), await waiting()]
    await post(`${done.activity}/complete`)
    await untilStatus(api(), done.workflowId, 'completed')
    await post(`${terminated.workflowId}/terminate`)

    const answers = [
      await post(`${done.activity}/complete`),
      await post(`${terminated.activity}/complete`),
      await post(`${terminated.activity}/heartbeat`),
      await post(`${anId()}/activities/approval/complete`),
    ]

    expect(answers.map(({ status, body }) => [status, body.error, body.workflowStatus, body.completed])).toEqual([
      [409, 'WorkflowNotRunningError', 'completed', true],
      [409, 'WorkflowNotRunningError', 'terminated', undefined],
      [409, 'WorkflowNotRunningError', 'terminated', undefined],
      [404, 'WorkflowNotFoundError', undefined, undefined],
    ])
  })

  test('complete: the same key is 200 again, also after the run; another key, verb or output changes nothing', async () => {
    const { workflowId, runId, activity } = await waiting()

    const first = await post(`${activity}/complete`, { output: 'yes' }, key('mail-1'))
    await untilStatus(api(), workflowId, 'completed')
    const again = await post(`${activity}/complete`, { output: 'no' }, key('mail-1'))
    const others = [
      await post(`${activity}/complete`, { output: 'no' }, key('mail-2')),
      await post(`${activity}/fail`, { message: 'no' }, key('mail-1')),
    ]

    expect([first.status, first.body]).toEqual([200, { workflowId, runId, activityId: 'approval', completed: true }])
    expect([again.status, again.body]).toEqual([200, first.body])
    expect(others.map(({ status, body }) => [status, body.completed])).toEqual([
      [409, true],
      [409, true],
    ])
    expect(await outcomeOf(workflowId)).toEqual(['completed', ['yes']])
  })

  test('complete: a key completes one activity, although the workflow uses its id again', async () => {
    const { workflowId, activity } = await waiting({ ids: ['approval', 'approval'] })
    await post(`${activity}/complete`, { output: 1 }, key('first'))
    await untilOpen(activity)

    const again = await post(`${activity}/complete`, { output: 2 }, key('first'))
    const second = await post(`${activity}/complete`, { output: 3 }, key('second'))

    expect([again.status, second.status]).toEqual([200, 200])
    expect(await outcomeOf(workflowId)).toEqual(['completed', [1, 3]])
  })

  test('fail: with retryable false the activity fails at once, with name, message and details', async () => {
    const { workflowId, runId, activity } = await waiting()
    const failure = { message: 'the customer said no', name: 'Rejected', details: [{ by: 'Ada' }], retryable: false }

    const failed = await post(`${activity}/fail`, failure, key('no'))
    const outcome = await outcomeOf(workflowId)
    const again = await post(`${activity}/fail`, failure, key('no'))

    expect([failed.status, failed.body]).toEqual([200, { workflowId, runId, activityId: 'approval', failed: true }])
    const { message, name, details, retryable } = failure
    expect(outcome).toEqual(['failed', { message, name, details, retryable, activityId: 'approval', cause: null }])
    expect([again.status, again.body]).toEqual([200, failed.body])
  })

  test('fail: by default the retry policy of the activity decides, and the next attempt can be completed', async () => {
    const { workflowId, activity } = await waiting({ attempts: 2 })
    const exhausted = await waiting({ attempts: 1 })

    const failed = await post(`${activity}/fail`, { message: 'try again' })
    await untilOpen(activity)
    const completed = await post(`${activity}/complete`, { output: 'the second time' })
    await post(`${exhausted.activity}/fail`, { message: 'the only attempt', retryable: true })

    expect([failed.status, completed.status]).toEqual([200, 200])
    expect(await outcomeOf(workflowId)).toEqual(['completed', ['the second time']])
    const [status, error] = await outcomeOf(exhausted.workflowId)
    expect([status, error]).toMatchObject(['failed', { message: 'the only attempt', name: 'Error', retryable: true }])
  })

  test('fail: between two attempts only a completion is possible, and the same key is 200 again', async () => {
    const { workflowId, activity } = await waiting({ retryInterval: '1h' })
    await post(`${activity}/fail`, { message: 'later' }, key('later'))

    const answers = [
      await post(`${activity}/fail`, { message: 'later' }, key('later')),
      await post(`${activity}/fail`, { message: 'later' }, key('other')),
      await post(`${activity}/heartbeat`),
      await post(`${activity}/complete`, { output: 'now' }),
    ]

    expect(answers.map(({ status, body }) => [status, body.error])).toEqual([
      [200, undefined],
      [409, 'WorkflowNotReadyError'],
      [409, 'WorkflowNotReadyError'],
      [200, undefined],
    ])
    expect(await outcomeOf(workflowId)).toEqual(['completed', ['now']])
  })

  test('heartbeat, cancel: the status shows the details; once the workflow cancels the activity, it can end so', async () => {
    const { workflowId, runId, activity } = await waiting()

    const early = await post(`${activity}/cancel`)
    const before = await post(`${activity}/heartbeat`, { details: { percent: 40 } })
    const { body: status } = await get(`${workflowId}/status`)
    await api().service.call('PATCH', `/workflow/${workflowId}/stop`)
    const canceled = await until('the activity is being canceled', async () => {
      const { body } = await post(`${activity}/heartbeat`)
      return body.cancelRequested && body
    })
    const canceling = await post(`${activity}/cancel`, { details: { at: 41 } }, key('end'))
    const again = await post(`${activity}/cancel`, {}, key('end'))

    const ids = { workflowId, runId, activityId: 'approval' }
    expect([before.status, before.body]).toEqual([200, { ...ids, cancelRequested: false }])
    expect(status.progress).toMatchObject([
      { activityId: 'approval', activityType: 'outside', details: { percent: 40 } },
    ])
    expect(canceled).toEqual({ ...ids, cancelRequested: true })
    expect([early.status, early.body.error, early.body.message]).toEqual([
      409,
      'WorkflowNotReadyError',
      `Activity "approval" of workflow ${workflowId} is not being canceled: its workflow has not requested that`,
    ])
    expect([canceling, again].map(({ status, body }) => [status, body])).toEqual(
      Array(2).fill([200, { ...ids, canceled: true }]),
    )
    expect((await outcomeOf(workflowId))[0]).toBe('canceled')
    const { text } = await get(`${workflowId}/history?pageSize=1000`)
    expect(text).toContain('"details":[{"at":41}]')
  })

  test('complete, fail, cancel, heartbeat: an invalid body, id or key is rejected', async () => {
    const { workflowId, activity } = await waiting()

    const answers = [
      await post(`${activity}/complete`, { result: 1 }),
      await post(`${activity}/complete`, [1]),
      await post(`${activity}/fail`),
      await post(`${activity}/fail`, { message: 7 }),
      await post(`${activity}/fail`, { message: 'x', details: { a: 1 } }),
      await post(`${activity}/cancel`, { reason: 'no' }),
      await post(`${activity}/heartbeat`, { progress: 1 }),
      await post(`${workflowId}/activities/${'x'.repeat(1001)}/complete`),
      await post(`${workflowId}/activities/%00/complete`),
      await post(`${activity}/heartbeat`, {}, key('k')),
    ]

    expect(answers.map(({ status }) => status)).toEqual([...Array(9).fill(400), 501])
    await post(`${activity}/complete`)
    await untilStatus(api(), workflowId, 'completed')
  })
}
