import { expect, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { rule } from '../../support/rules.ts'
import { type ApiFixture, anId, pause, startDirectly, startMessages, untilStatus } from './api-fixture.ts'

const NO_RUN = '00000000-0000-4000-8000-000000000000'

/** GET status and result. */
export function inspect(api: () => ApiFixture): void {
  /** The status of a run that was started behind the API's back, once the engine says so too. */
  async function statusOf(workflowName: string, status: string, options: Parameters<typeof startDirectly>[2] = {}) {
    const { workflowId, firstExecutionRunId: runId } = await startDirectly(api(), workflowName, options)
    await untilStatus(api(), workflowId, status, { runId })
    const { body } = await api().service.get(`${workflowId}/runs/${runId}/status`)
    const { body: result } = await api().service.get(`${workflowId}/runs/${runId}/result`)
    return { workflowId, runId, status: body.status, result }
  }

  test('status: has what the start has set, and nothing that the service has added', async () => {
    const { service } = api()
    const options = {
      memo: { order: { lines: [1, 2] }, apiKey: 's3cret' },
      searchAttributes: { OptionInt: 17, OptionKeywordList: ['a', 'b'] },
      summary: 'order 17',
      executionTimeout: '2h',
      runTimeout: '90s',
    }
    const body = { workflowName: 'echo', input: 1, ...options }

    const { body: run } = await service.post('run', body, { 'Idempotency-Key': anId() })

    expect((await service.get(`${run.workflowId}/status`)).body).toMatchObject({
      memo: { order: { lines: [1, 2] }, apiKey: '[redacted]' },
      searchAttributes: options.searchAttributes,
      summary: 'order 17',
      details: null,
      parent: null,
      workerVersion: null,
      executionTimeoutMs: 7_200_000,
      runTimeoutMs: 90_000,
    })
    const { memo } = (await service.get(`${run.workflowId}/status`)).body
    expect(Object.keys(memo).toSorted()).toEqual(['apiKey', 'order'])
  })

  test('status: an open run has the progress that its activities report, and a closed run has none', async () => {
    const { service } = api()
    const input = { details: { percent: 40, password: 's3cret' } }
    const { body: run } = await service.start('reportsProgress', input)

    const { body, text } = await until('the heartbeat has arrived', async () => {
      const status = await service.get(`${run.workflowId}/status`)
      return status.body.progress === null ? null : status
    })
    await service.post(`${run.workflowId}/terminate`)
    const { body: closed } = await service.get(`${run.workflowId}/status`)

    expect(body.progress).toMatchObject([
      { activityId: '1', activityType: 'reports', attempt: 1, details: { percent: 40, password: '[redacted]' } },
    ])
    expect(body.progress[0].heartbeatAt).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    expect(text).toContain('"id":9007199254740993}')
    expect([closed.status, closed.progress]).toEqual(['terminated', null])
  })

  test('status: a child has its parent', async () => {
    const child = anId()
    const args = [{ child: 'echo', input: 1, workflowId: child }]

    const { workflowId, firstExecutionRunId: runId } = await startDirectly(api(), 'parent', { args })
    await untilStatus(api(), workflowId, 'completed')

    expect((await api().service.get(`${child}/status`)).body.parent).toEqual({ workflowId, runId })
  })

  rule('status.returns-the-current-status', async () => {
    const { service } = api()
    const { body: started } = await service.start('waitForSignal')

    const running = await service.get(`${started.workflowId}/status`)
    await service.post(`${started.workflowId}/signal/finish`)
    await untilStatus(api(), started.workflowId, 'completed')
    const completed = await service.get(`${started.workflowId}/status`)

    const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    const known = {
      ...started,
      workflowName: 'waitForSignal',
      catalog: api().catalog,
      startedAt: instant,
      problem: null,
      progress: null,
      memo: {},
      searchAttributes: {},
      summary: null,
      details: null,
      parent: null,
      workerVersion: null,
      executionTimeoutMs: null,
      runTimeoutMs: null,
    }
    expect([running.status, running.body]).toEqual([
      200,
      { ...known, status: 'running', completedAt: null, historyLength: expect.any(Number) },
    ])
    expect(completed.body).toEqual({
      ...known,
      status: 'completed',
      completedAt: instant,
      historyLength: expect.any(Number),
    })
    expect(completed.body.historyLength).toBeGreaterThan(running.body.historyLength)
  })

  rule('status.completed', async () => {
    const { status, result } = await statusOf('echo', 'completed', { args: [1] })

    expect([status, result.status, result.output]).toEqual(['completed', 'completed', 1])
  })

  rule('status.failed', async () => {
    const { status, result } = await statusOf('failRetryable', 'failed')

    expect([status, result.status, result.output]).toEqual(['failed', 'failed', null])
  })

  rule('status.timed_out', async () => {
    const { status, result } = await statusOf('neverEnds', 'timed_out', { workflowRunTimeout: '1s' })

    expect([status, result]).toEqual([
      'timed_out',
      expect.objectContaining({
        status: 'timed_out',
        error: 'The workflow timed out',
        errorDetails: {
          name: 'TimeoutFailure',
          message: 'The workflow timed out',
          retryable: true,
          activityId: null,
          details: [],
          cause: null,
        },
      }),
    ])
  })

  rule('status.continued', async () => {
    const { workflowId, runId, status, result } = await statusOf('chain', 'continued', { args: [{ links: 2 }] })

    expect([status, result]).toEqual([
      'continued',
      {
        workflowId,
        runId,
        status: 'continued',
        input: { links: 2 },
        output: null,
        trace: null,
        error: null,
        errorDetails: null,
      },
    ])
  })

  test('status: a run that the engine retries has failed and has a next run', async () => {
    const retry = { initialInterval: '50ms', backoffCoefficient: 1, maximumAttempts: 3 }
    const first = await statusOf('retriedRun', 'failed', { args: [{ succeedsAt: 2 }], retry })
    await untilStatus(api(), first.workflowId, 'completed')

    const { body: last } = await api().service.get(`${first.workflowId}/result`)

    expect([first.status, first.result.status, first.result.error]).toEqual(['failed', 'failed', 'run 1 fails'])
    expect([last.status, last.output]).toEqual(['completed', 2])
    expect(last.runId).not.toBe(first.runId)
  })

  test('status: a paused run is paused', async () => {
    const { workflowId } = await startDirectly(api(), 'neverEnds')
    // The engine records a pause in the history when no workflow task is in progress.
    await untilStatus(api(), workflowId, 'running', { events: 4 })
    await pause(api(), workflowId)

    const { body } = await api().service.get(`${workflowId}/status`)
    const result = await api().service.get(`${workflowId}/result`)

    expect([body.status, body.completedAt]).toEqual(['paused', null])
    expect([result.status, result.body.workflowStatus]).toEqual([424, 'paused'])
    await api().service.post(`${workflowId}/terminate`)
  })

  test('status and result: a missing execution, a missing run and a run of another execution are 404', async () => {
    const { service } = api()
    const { body: one } = await service.start('nothing')
    const { body: other } = await service.start('nothing')
    const missing = [
      [anId(), undefined],
      [one.workflowId, NO_RUN],
      [one.workflowId, other.runId],
    ]

    for (const [workflowId, runId] of missing) {
      const path = runId === undefined ? workflowId : `${workflowId}/runs/${runId}`
      for (const verb of ['status', 'result']) {
        const { status, body } = await service.get(`${path}/${verb}`)
        const facts = [verb, status, body.error, body.workflowId, body.runId]
        expect(facts).toEqual([verb, 404, 'WorkflowNotFoundError', workflowId, runId])
      }
    }
  })

  test('status: a run id in upper case identifies the same run, also when waiting', async () => {
    const { service } = api()
    const { workflowId, runId } = await startMessages(api())
    const run = `/workflow/${workflowId}/runs/${runId.toUpperCase()}`

    const status = await service.call('GET', `${run}/status`)
    const update = await service.call('POST', `${run}/update/set`, { payload: 1 })

    expect([status.status, status.body.runId, update.status]).toEqual([200, runId, 200])
    await service.call('POST', `${run}/signal/finish`)
  })

  test('result: an open run has no result yet', async () => {
    const { service } = api()
    const { body: started } = await service.start('neverEnds')

    const latest = await service.get(`${started.workflowId}/result`)
    const pinned = await service.get(`${started.workflowId}/runs/${started.runId}/result`)

    const { workflowId, runId } = started
    const expected = expect.objectContaining({
      error: 'WorkflowNotCompletedError',
      workflowId,
      runId,
      workflowStatus: 'running',
    })
    expect([latest.status, latest.body, pinned.status, pinned.body]).toEqual([424, expected, 424, expected])
    await service.post(`${workflowId}/terminate`)
  })

  test('result: the input is null for no argument and the array for several', async () => {
    const none = await statusOf('nothing', 'completed')
    const several = await statusOf('several', 'completed', { args: [1, 'two', null] })

    const facts = [none.result.input, several.result.input, several.result.output]
    expect(facts).toEqual([null, [1, 'two', null], [1, 'two', null]])
  })

  test('result: is found in a history longer than a page', async () => {
    const ofMany = await statusOf('manySteps', 'completed', { args: [{ n: 50 }] })

    expect(ofMany.result).toMatchObject({ runId: ofMany.runId, status: 'completed', input: { n: 50 }, output: 50 })
  })

  test('result: a payload that cannot be decoded is returned in base64', async () => {
    const { client, service } = api()
    const workflowId = anId()
    const data = Buffer.from([0, 255, 17])
    await client.connection.workflowService.startWorkflowExecution({
      namespace: 'default',
      workflowId,
      workflowType: { name: 'echo' },
      taskQueue: { name: `nobody-${workflowId}` },
      input: { payloads: [{ metadata: { encoding: Buffer.from('binary/encrypted') }, data }] },
      requestId: workflowId,
    })
    await service.post(`${workflowId}/terminate`)

    const { status, body } = await service.get(`${workflowId}/result`)

    expect([status, body.input]).toEqual([200, { encoding: 'binary/encrypted', data: data.toString('base64') }])
  })
}
