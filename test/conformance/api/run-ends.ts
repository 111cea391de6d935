import { randomUUID } from 'node:crypto'
import { expect, inject, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { publishCatalog } from '../../../src/worker/catalog/publish-catalog.ts'
import type { Answer } from '../../support/api.ts'
import { rule } from '../../support/rules.ts'
import { testCatalog } from '../../support/test-catalog.ts'
import { startWorker } from '../../support/worker.ts'
import { type ApiFixture, anId, pause, startDirectly, startMessages, unpause, untilStatus } from './api-fixture.ts'

const RESULT_KEYS = ['error', 'errorDetails', 'input', 'output', 'runId', 'status', 'trace', 'workflowId']

/** The end of a run, as `run` and `result` return it. */
export function runEnds(api: () => ApiFixture): void {
  async function runOf(workflowName: string, input: unknown = null) {
    const { status, body } = await api().service.run(workflowName, input)
    expect(status).toBe(200)
    return body
  }

  /** Runs `workflowName`, does something to it, and says what `run` answered. */
  async function runWhile(workflowName: string, act: (workflowId: string) => Promise<unknown>) {
    const workflowId = anId()
    const answer = api().service.run(workflowName, {}, { workflowId })
    await untilStatus(api(), workflowId, 'running', { events: 4 })
    await act(workflowId)
    return answer
  }

  rule('result.has-these-eight-keys', async () => {
    const completed = await runOf('echo', 1)
    const failed = await runOf('failRetryable')

    expect([Object.keys(completed).sort(), Object.keys(failed).sort()]).toEqual([RESULT_KEYS, RESULT_KEYS])
  })

  rule('result.same-as-run', async () => {
    for (const [workflowName, input] of [
      ['echo', { a: [1] }],
      ['failInActivity', null],
    ] as const) {
      const ran = await runOf(workflowName, input)

      const { status, body } = await api().service.get(`${ran.workflowId}/result`)

      expect([status, body]).toEqual([200, ran])
    }
  })

  rule('result.completed', async () => {
    const body = await runOf('echo', { a: 1 })

    expect(body).toMatchObject({ status: 'completed', output: { a: 1 }, error: null, errorDetails: null })
  })

  test('run: a workflow that returns nothing has the output null', async () => {
    expect(await runOf('nothing')).toMatchObject({ status: 'completed', output: null, error: null })
  })

  rule('result.failed', async () => {
    const body = await runOf('failWithCauses')

    expect(body).toMatchObject({ status: 'failed', output: null, error: 'the outer failure' })
  })

  rule('result.errorDetails', async () => {
    const own = await runOf('failWithCauses')
    const activity = await runOf('failInActivity')
    const retryable = await runOf('failRetryable')

    expect(own.errorDetails).toEqual({
      message: 'the outer failure',
      name: 'Outer',
      retryable: false,
      activityId: null,
      details: [{ code: 17 }],
      cause: {
        name: 'Middle',
        message: 'in the middle',
        details: [],
        cause: { name: 'Error', message: 'the root cause', details: [], cause: null },
      },
    })
    expect(activity.errorDetails).toEqual({
      message: 'no retry please',
      name: 'BadInput',
      retryable: false,
      activityId: '1',
      details: [{ field: 'name' }],
      cause: { name: 'Error', message: 'the cause below', details: [], cause: null },
    })
    expect(retryable.errorDetails).toMatchObject({ name: 'Flaky', retryable: true })
  })

  test('run: the failure of a child is returned as the run’s own', async () => {
    const body = await runOf('failInChild')

    const facts = [body.error, body.errorDetails.name, body.errorDetails.activityId]
    expect(facts).toEqual(['the outer failure', 'Outer', null])
  })

  test('run: a cancellation without a request is a failure', async () => {
    const body = await runOf('failCancelledUnasked')

    const errorDetails = { name: 'CanceledFailure', retryable: false }
    expect(body).toMatchObject({ status: 'failed', error: 'nobody asked', errorDetails })
  })

  test('run: a workflow stopped meanwhile is canceled, with the reason', async () => {
    const { body } = await runWhile('cleansUp', (id) =>
      api().service.call('PATCH', `/workflow/${id}/stop`, { reason: 'enough' }),
    )

    expect(body).toMatchObject({
      status: 'canceled',
      output: null,
      error: 'The workflow was canceled: enough',
      errorDetails: { name: 'CanceledFailure', retryable: false, activityId: null, details: [], cause: null },
    })
  })

  test('run: a workflow that catches its cancellation and returns is completed', async () => {
    const { body } = await runWhile('catchesCancel', (id) => api().service.call('PATCH', `/workflow/${id}/stop`))

    expect([body.status, body.output]).toEqual(['completed', 'stopped, and glad of it'])
  })

  test('run: a workflow terminated meanwhile is terminated, with the reason', async () => {
    const { body } = await runWhile('neverEnds', (id) => api().service.post(`${id}/terminate`, { reason: 'no use' }))

    expect(body).toMatchObject({
      status: 'terminated',
      output: null,
      error: 'The workflow was terminated: no use',
      errorDetails: { name: 'TerminatedFailure', retryable: false, activityId: null, details: [], cause: null },
    })
  })

  test('run: a paused run has not ended', async () => {
    const { body } = await runWhile('waitForSignal', async (workflowId) => {
      await pause(api(), workflowId)
      await untilStatus(api(), workflowId, 'paused')
      await unpause(api(), workflowId)
      await api().service.post(`${workflowId}/signal/finish`, { payload: 'later' })
    })

    expect([body.status, body.output]).toEqual(['completed', ['later']])
  })

  test('run: a run that is reset while it is waited for is terminated', async () => {
    const { body } = await runWhile('waitForSignal', (workflowId) => reset(api(), workflowId))

    const { body: now } = await api().service.get(`${body.workflowId}/status`)
    expect([body.status, now.status]).toEqual(['terminated', 'running'])
    expect(body.runId).not.toBe(now.runId)
    await api().service.post(`${body.workflowId}/terminate`)
  })

  test('result: of a reset run speaks of the new run', async () => {
    const { service } = api()
    const { workflowId, firstExecutionRunId } = await startDirectly(api(), 'waitForSignal', { args: ['the input'] })
    await untilStatus(api(), workflowId, 'running', { events: 4 })
    const runId = await reset(api(), workflowId)
    await service.post(`${workflowId}/signal/finish`, { payload: 'after' })
    await untilStatus(api(), workflowId, 'completed')

    const { body: latest } = await service.get(`${workflowId}/result`)
    const { body: base } = await service.get(`${workflowId}/runs/${firstExecutionRunId}/result`)

    const facts = [latest.runId, latest.status, latest.input, latest.output]
    expect(facts).toEqual([runId, 'completed', 'the input', ['after']])
    expect([base.runId, base.status, base.input]).toEqual([firstExecutionRunId, 'terminated', 'the input'])
  })

  rule('result.trace-object', async () => {
    const { service, plainTaskQueue } = api()
    const trace = { local: '/traces/one.json', remote: 'https://bucket.s3.eu-central-1.amazonaws.com/one.json' }

    const full = await service.run('saysTrace', { trace }, { catalog: plainTaskQueue })
    const empty = await service.run('saysTrace', { trace: {} }, { catalog: plainTaskQueue })
    const none = await service.run('echo', 1, { catalog: plainTaskQueue })

    const facts = [full.body.trace, empty.body.trace, none.body.trace]
    expect(facts).toEqual([{ destinations: trace }, null, null])
  })

  rule('result.trace-may-be-there-when-failed', async () => {
    const { workflowId } = await startDirectly(api(), 'failRetryable', {
      memo: { trace: { local: '/traces/failed.json' } },
    })
    await untilStatus(api(), workflowId, 'failed')

    const { body } = await api().service.get(`${workflowId}/result`)

    expect([body.status, body.trace]).toEqual(['failed', { destinations: { local: '/traces/failed.json' } }])
  })

  test('SERVICE_CHECK_OUTPUTS: run and result warn of an output that does not match its schema, and do not change it', async () => {
    const { service, restrictedService } = api()
    const workflowId = anId()
    const read = (from: typeof service | typeof restrictedService) => from.get(`${workflowId}/result`)

    // A busy machine may not read the schema in time, and then there is no warning.
    const warned = (send: () => Promise<Answer>) =>
      until('the output is checked', async () => {
        const answer = await send()
        return answer.headers.has('Portico-Output-Warning') && answer
      })

    const run = await warned(() => restrictedService.run('saysTrace', { trace: null }, { workflowId }))
    const answers = [run, await warned(() => read(restrictedService)), await read(service)]
    const matching = await restrictedService.run('sleepFor', { ms: 0 })

    const warning = '/output must have at most 3 characters'
    expect(answers.map(({ status, body }) => [status, body])).toEqual(answers.map(() => [200, run.body]))
    expect([run.body.status, run.body.output]).toEqual(['completed', 'said'])
    const warnings = [...answers, matching].map(({ headers }) => headers.get('Portico-Output-Warning'))
    expect(warnings).toEqual([warning, warning, null, null])
  })

  test('SERVICE_CHECK_OUTPUTS: an update warns of a result that does not match its schema', async () => {
    const { workflowId } = await startMessages(api())
    const update = (payload: number) => api().restrictedService.post(`${workflowId}/update/validated`, { payload })

    // As above.
    const answer = await until('the result is checked', async () => {
      const answer = await update(1001)
      return answer.headers.has('Portico-Output-Warning') && answer
    })
    const matching = await update(1000)
    await api().service.post(`${workflowId}/terminate`)

    expect([answer.status, answer.body, matching.status, matching.body]).toEqual([200, 1001, 200, 1000])
    expect([answer, matching].map(({ headers }) => headers.get('Portico-Output-Warning'))).toEqual([
      '/result must be at most 1000',
      null,
    ])
  })

  test('run: every result names the trace destinations of its catalog', async () => {
    const { service, client } = api()
    const catalog = `traced-${randomUUID()}`
    const { connection } = client
    const traces = {
      local: '/traces/{namespace}/{runId}.json',
      remote: 'https://b.s3.eu-central-1.amazonaws.com/{namespace}/{runId}',
    }
    await publishCatalog({
      connection,
      namespace: 'default',
      catalog,
      definition: testCatalog,
      traces,
      identity: 'test',
    })
    const worker = await startWorker({ address: inject('engine').address, taskQueue: catalog })
    const workflowId = anId()

    const { body } = await service.run('failRetryable', null, { workflowId, catalog })
    await worker.stop()

    expect(body.trace).toEqual({
      destinations: {
        local: `/traces/default/${body.runId}.json`,
        remote: `https://b.s3.eu-central-1.amazonaws.com/default/${body.runId}`,
      },
    })
  })
}

/** To where its first workflow task was completed; the new run's id. */
async function reset({ client }: ApiFixture, workflowId: string): Promise<string> {
  const { runId } = await client.connection.workflowService.resetWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId },
    reason: 'a test',
    requestId: randomUUID(),
    workflowTaskFinishEventId: 4 as never,
  })
  return runId
}
