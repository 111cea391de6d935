import { expect, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { type ApiFixture, anId, startDirectly } from './api-fixture.ts'

/** POST retry, pause and unpause, and PATCH of activities; PATCH of options. */
export function repair(api: () => ApiFixture): void {
  const post = (path: string, body?: unknown, headers: Record<string, string> = {}) =>
    api().service.post(path, body, headers)
  const patch = (path: string, body?: unknown) => api().service.call('PATCH', `/workflow/${path}`, body)
  const end = (workflowId: string) => post(`${workflowId}/terminate`)

  const untilOpen = (activity: string) =>
    until('an attempt is executed', async () => (await post(`${activity}/heartbeat`)).status === 200)

  /** A run whose activity `approval` executes an attempt, which ends from outside. */
  async function executing() {
    const { body } = await api().service.start('completesOutside', { retryInterval: '1h' }, { workflowId: anId() })
    const activity = `${body.workflowId}/activities/approval`
    await untilOpen(activity)
    return { workflowId: String(body.workflowId), runId: String(body.runId), activity }
  }

  /** The same, but the attempt has failed: the next one is an hour later. */
  async function backingOff() {
    const run = await executing()
    await post(`${run.activity}/fail`, { message: 'the bank is closed' })
    return run
  }

  /** What explain says about the activity. */
  const reasonOf = async (workflowId: string) => {
    const { body } = await api().service.get(`${workflowId}/explain`)
    return body.reasons?.find(({ kind }: { kind: string }) => kind.startsWith('activity_'))
  }

  test('retry: the next attempt begins now, as the first one; explain names the request', async () => {
    const { workflowId, runId, activity } = await backingOff()
    const { attempt, action } = await reasonOf(workflowId)

    const retried = await api().service.call(action.method, action.path)
    await untilOpen(activity)
    const { attempt: after, lastFailure } = await reasonOf(workflowId)

    expect([retried.status, retried.body]).toEqual([200, { workflowId, runId, activityId: 'approval', retried: true }])
    expect(action.path).toBe(`/workflow/${workflowId}/runs/${runId}/activities/approval/retry`)
    expect([attempt, after, lastFailure]).toEqual([2, 1, null])
    await end(workflowId)
  })

  test('retry: an attempt that is executed is not retried', async () => {
    const { workflowId, runId, activity } = await executing()

    const { status, body } = await post(`${activity}/retry`)

    const ids = { workflowId, runId, activityId: 'approval' }
    expect([status, body]).toEqual([409, expect.objectContaining({ error: 'WorkflowNotReadyError', ...ids })])
    await end(workflowId)
  })

  test('retry: no attempt begins in a paused run', async () => {
    const { workflowId, activity } = await backingOff()
    await post(`${workflowId}/pause`)

    const { status, body } = await post(`${activity}/retry`)

    expect([status, body.error, body.workflowStatus, body.activityId]).toEqual([
      ...[409, 'WorkflowNotReadyError', 'paused', 'approval'],
    ])
    expect((await reasonOf(workflowId)).action).toBeNull()
    await end(workflowId)
  })

  test('pause: no further attempt begins until unpause, and each is the same when it is repeated', async () => {
    const { workflowId, runId, activity } = await backingOff()
    const ids = { workflowId, runId, activityId: 'approval' }

    const paused = [
      await post(`${activity}/pause`, { reason: 'the bank is closed' }),
      await post(`${activity}/pause`, { reason: 'another one' }),
    ]
    const reason = await reasonOf(workflowId)
    const pausedRuns = `runs?query=TemporalPauseInfo+IS+NOT+NULL&searchAttributes[WorkflowId]=${workflowId}`
    await until('the run is listed', async () => (await api().service.get(pausedRuns)).body.runs.length === 1)
    const unpaused = await api().service.call(reason.action.method, reason.action.path)
    await untilOpen(activity)
    const { attempt } = await reasonOf(workflowId)
    const again = await post(`${workflowId}/runs/${runId}/activities/approval/unpause`)

    expect(paused.map(({ status, body }) => [status, body])).toEqual(paused.map(() => [200, { ...ids, paused: true }]))
    expect(reason).toMatchObject({ state: 'paused', attempt, action: { method: 'POST', body: null } })
    expect(attempt).toBe(2)
    expect(reason.advice).toMatch(/paused: the bank is closed; unpause activity outside$/)
    expect(reason.action.path).toBe(`/workflow/${workflowId}/runs/${runId}/activities/approval/unpause`)
    expect([unpaused, again].map(({ status, body }) => [status, body])).toEqual([
      [200, { ...ids, paused: false }],
      [200, { ...ids, paused: false }],
    ])
    await end(workflowId)
  })

  test('pause: an attempt that is executed can end, and a paused activity is retried', async () => {
    const { workflowId, activity } = await executing()

    await post(`${activity}/pause`)
    const { state, action } = await reasonOf(workflowId)
    await post(`${activity}/fail`, { message: 'no' })
    const failed = await reasonOf(workflowId)
    const retried = await post(`${activity}/retry`, { dropHeartbeat: true, restoreOptions: true })
    await untilOpen(activity)

    expect([state, action.path.split('/').at(-1), failed.state, retried.status]).toEqual([
      ...['pause_requested', 'unpause', 'paused', 200],
    ])
    await end(workflowId)
  })

  test('pause: an attempt that is executed completes the activity', async () => {
    const { workflowId, activity } = await executing()

    await post(`${activity}/pause`)
    const completed = await post(`${activity}/complete`, { output: 1 })

    const { body } = await api().service.get(`${workflowId}/result?wait=60s`)
    expect([completed.status, body.output]).toEqual([200, [1]])
  })

  test('retry: what the activity has reported stays, unless it is to be dropped', async () => {
    const { workflowId, activity } = await executing()
    const progress = async () => (await api().service.get(`${workflowId}/status`)).body.progress
    const retryAfterFailure = async (body: object) => {
      await post(`${activity}/heartbeat`, { details: 'half' })
      await post(`${activity}/fail`, { message: 'the bank is closed' })
      return post(`${activity}/retry`, body)
    }

    const kept = [(await retryAfterFailure({})).status, await progress()]
    await untilOpen(activity)
    const dropped = [(await retryAfterFailure({ dropHeartbeat: true })).status, await progress()]

    expect([kept, dropped]).toEqual([
      [200, [expect.objectContaining({ details: 'half' })]],
      [200, null],
    ])
    await end(workflowId)
  })

  test('retry: an activity that waits for a worker still does', async () => {
    const { workflowId } = await startDirectly(api(), 'stepElsewhere', { args: [anId()] })
    const before = await until('the activity is scheduled', () => reasonOf(workflowId))

    const { status, body } = await post(`${workflowId}/activities/1/retry`)

    const { state, attempt } = await reasonOf(workflowId)
    expect([before.action, status, body.retried, state, attempt]).toEqual([null, 200, true, 'scheduled', 1])
    await end(workflowId)
  })

  test('set: changes what is named and nothing else, and restores what was scheduled', async () => {
    const { workflowId, runId, activity } = await backingOff()
    const scheduled = {
      ...{ taskQueue: api().catalog, startToCloseTimeoutMs: 60_000, scheduleToCloseTimeoutMs: null },
      ...{ scheduleToStartTimeoutMs: null, heartbeatTimeoutMs: 60_000 },
      retry: {
        initialIntervalMs: 3_600_000,
        backoffCoefficient: 1,
        maximumIntervalMs: 360_000_000,
        maximumAttempts: 3,
      },
    }

    const changed = await patch(activity, { startToCloseTimeout: '5m', retry: { maximumAttempts: 7 } })
    const restored = await patch(activity, { restore: true })
    await patch(activity, { scheduleToStartTimeout: '1m', retry: { backoffCoefficient: 3 } })
    await post(`${activity}/retry`, { restoreOptions: true })
    await untilOpen(activity)
    const read = await patch(activity, { heartbeatTimeout: '1m' })
    await post(`${activity}/fail`, { message: 'the bank is closed' })
    const moved = await patch(activity, { retry: { initialInterval: '1s' } })
    await untilOpen(activity)

    const ids = { workflowId, runId, activityId: 'approval' }
    const options = {
      ...scheduled,
      startToCloseTimeoutMs: 300_000,
      retry: { ...scheduled.retry, maximumAttempts: 7 },
    }
    expect([changed.status, changed.body]).toEqual([200, { ...ids, options }])
    expect([restored.status, restored.body]).toEqual([200, { ...ids, options: scheduled }])
    expect(read.body.options).toEqual(scheduled)
    expect([moved.status, moved.body.options.retry.initialIntervalMs]).toEqual([200, 1000])
    await end(workflowId)
  })

  test('set: a timeout limits the attempt that is executed, and the next one', async () => {
    const { workflowId, activity } = await executing()
    const untilFailed = () =>
      until('the attempt has timed out', async () => (await reasonOf(workflowId)).lastFailure?.message)

    await patch(activity, { startToCloseTimeout: '1s' })
    const running = await untilFailed()
    await post(`${activity}/retry`)
    const next = await untilFailed()

    expect([running, next]).toEqual(Array(2).fill(expect.stringMatching(/StartToClose timeout/)))
    await end(workflowId)
  })

  test('set: with fewer attempts than were made, the next one is the last', async () => {
    const { workflowId, activity } = await backingOff()
    const fail = { message: 'the bank is closed' }

    const { status } = await patch(activity, { retry: { initialInterval: '1s', maximumAttempts: 1 } })
    await untilOpen(activity)
    await post(`${activity}/fail`, fail)

    const { body } = await api().service.get(`${workflowId}/result?wait=60s`)
    expect([status, body.status, body.error]).toEqual([200, 'failed', fail.message])
  })

  test('set: a waiting activity moves to the task queue', async () => {
    const taskQueue = anId()
    const { workflowId } = await startDirectly(api(), 'stepElsewhere', { args: [taskQueue] })
    await until('the activity is scheduled', async () => (await reasonOf(workflowId)) !== undefined)

    const moved = await patch(`${workflowId}/activities/1`, { taskQueue: api().plainTaskQueue })

    expect([moved.status, moved.body.options?.taskQueue]).toEqual([200, api().plainTaskQueue])
    const result = await api().service.get(`${workflowId}/result?wait=60s`)
    expect(result.body.status).toBe('completed')
  })

  test('repair: an activity that is over or missing is a 404, a closed run a 409', async () => {
    const [over, closed] = [await executing(), await executing()]
    const { body } = await api().service.start('completesOutside', { staysOpen: true }, { workflowId: anId() })
    await untilOpen(`${body.workflowId}/activities/approval`)
    await post(`${body.workflowId}/activities/approval/complete`)
    await end(closed.workflowId)

    const answers = [
      await post(`${body.workflowId}/activities/approval/retry`),
      await post(`${over.workflowId}/activities/other/pause`),
      await patch(`${over.workflowId}/activities/other`, { heartbeatTimeout: '1m' }),
      await post(`${closed.activity}/unpause`),
      await post(`${anId()}/activities/1/retry`),
    ]

    expect(answers.map(({ status, body }) => [status, body.error, body.completed])).toEqual([
      [404, 'ActivityNotFoundError', true],
      [404, 'ActivityNotFoundError', undefined],
      [404, 'ActivityNotFoundError', undefined],
      [409, 'WorkflowNotRunningError', undefined],
      [404, 'WorkflowNotFoundError', undefined],
    ])
    await Promise.all([end(over.workflowId), end(body.workflowId)])
  })

  test('repair: invalid bodies and values that the engine rejects are a 400; a key is a 501', async () => {
    const { workflowId, activity } = await backingOff()

    const answers = [
      await patch(activity),
      await patch(activity, {}),
      await patch(activity, { retry: {} }),
      await patch(activity, { restore: true, taskQueue: 'other' }),
      await patch(activity, { taskQueue: '$webhook:orders' }),
      await patch(activity, { retry: { nonRetryableErrorTypes: ['X'] } }),
      await patch(activity, { retry: { maximumInterval: '1s' } }),
      await post(`${activity}/retry`, { keepPaused: true }),
      await post(`${activity}/pause`, { reason: 1 }),
      await patch(`${workflowId}/options`, {}),
    ]
    const run = await post(`${workflowId}/runs/no-uuid/activities/approval/retry`)
    const keyed = await post(`${activity}/retry`, {}, { 'Idempotency-Key': 'k' })

    expect(answers.map(({ status, body }) => [status, body.issues?.[0].path])).toEqual([
      [400, ''],
      [400, ''],
      [400, '/retry'],
      [400, '/restore'],
      [400, '/taskQueue'],
      [400, '/retry/nonRetryableErrorTypes'],
      [400, '/retry/maximumInterval'],
      [400, '/keepPaused'],
      [400, '/reason'],
      [400, ''],
    ])
    expect([run.status, run.body.error]).toEqual([400, 'ValidationError'])
    expect([keyed.status, keyed.body.error]).toEqual([501, 'NotSupportedError'])
    await end(workflowId)
  })

  test('options: a run is pinned to a version that polls its task queue', async () => {
    const [taskQueue, deploymentName, { client }] = [anId(), anId(), api()]
    const pinned = { deploymentName, buildId: 'b1' }
    const { workflowId } = await startDirectly(api(), 'nothing', { taskQueue })
    const { workflowService } = client.connection
    const polling = new AbortController()
    const poll = {
      ...{ namespace: 'default', taskQueue: { name: taskQueue }, identity: 'a test' },
      deploymentOptions: { ...pinned, workerVersioningMode: 2 },
    }
    const polled = client.withDeadline(Date.now() + 60_000, () =>
      client.withAbortSignal(polling.signal, () => workflowService.pollWorkflowTaskQueue(poll).catch(() => null)),
    )
    // The engine remembers for a while that it does not know a version.
    const version = { namespace: 'default', deploymentVersion: pinned }
    await until('the engine knows it', async () => {
      const { versionTaskQueues } = await workflowService.describeWorkerDeploymentVersion(version)
      return versionTaskQueues.length > 0
    })

    const { status, body } = await patch(`${workflowId}/options`, { versioningOverride: { pinned } })
    polling.abort()
    await polled

    expect([status, body.workflowId, body.versioningOverride]).toEqual([200, workflowId, { pinned }])
    await end(workflowId)
  })

  test('options: priority and version of a run change alone, and null removes an override', async () => {
    const { workflowId, runId, activity } = await executing()
    const priority = { priorityKey: 2, fairnessKey: 'vip', fairnessWeight: 2 }

    const answers = [
      await patch(`${workflowId}/options`, { priority }),
      await patch(`${workflowId}/options`, { versioningOverride: 'auto-upgrade' }),
      await patch(`${workflowId}/runs/${runId}/options`, { versioningOverride: null }),
    ]
    const pinned = { deploymentName: 'none', buildId: 'b1' }
    const unknown = await patch(`${workflowId}/options`, { versioningOverride: { pinned } })
    await post(`${activity}/complete`)
    await api().service.get(`${workflowId}/result?wait=60s`)
    const closed = await patch(`${workflowId}/options`, { priority })

    expect(answers.map(({ status, body }) => [status, body])).toEqual(
      [null, 'auto-upgrade', null].map((versioningOverride) => [
        200,
        { workflowId, runId, versioningOverride, priority },
      ]),
    )
    expect([unknown.status, unknown.body.issues]).toMatchObject([400, [{ path: '/versioningOverride/pinned' }]])
    expect([closed.status, closed.body.error]).toEqual([409, 'WorkflowNotRunningError'])
  })
}
