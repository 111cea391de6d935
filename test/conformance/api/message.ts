import { expect, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { rule } from '../../support/rules.ts'
import { type ApiFixture, anId, pause, startDirectly, startMessages, untilStatus } from './api-fixture.ts'

/** POST signal, query and update. */
export function message(api: () => ApiFixture): void {
  function post(path: string, body?: unknown) {
    return api().service.post(path, body)
  }

  rule('signal.pushes-data-into-a-running-workflow', async () => {
    const { workflowId, runId } = await startMessages(api())

    const { status, body } = await post(`${workflowId}/signal/add`, { payload: { by: 'Ada' } })
    await post(`${workflowId}/runs/${runId}/signal/add`, { args: ['one', null] })
    await post(`${workflowId}/signal/add`)
    await post(`${workflowId}/signal/finish`)
    await untilStatus(api(), workflowId, 'completed')

    expect([status, body]).toEqual([200, { workflowId, runId, signal: 'add', accepted: true }])
    const { body: result } = await api().service.get(`${workflowId}/result`)
    expect(result.output.gathered).toEqual([{ by: 'Ada' }, 'one', null])
  })

  test('signal: a closed run accepts none', async () => {
    const { body: ran } = await post('run', { workflowName: 'nothing', input: null })
    const { workflowId, runId } = ran

    const latest = await post(`${workflowId}/signal/add`, { payload: 1 })
    const pinned = await post(`${workflowId}/runs/${runId}/signal/add`, { payload: 1 })

    const expected = expect.objectContaining({
      error: 'WorkflowNotRunningError',
      workflowId,
      runId,
      workflowStatus: 'completed',
    })
    expect([latest.status, latest.body, pinned.status, pinned.body]).toEqual([409, expected, 409, expected])
  })

  test('signal: a run that continued as new accepts none, its next run does', async () => {
    const workflowId = anId()
    const { body: first } = await post('start', { workflowName: 'chainOnSignal', input: 1, workflowId })
    await post(`${workflowId}/signal/next`)
    await untilStatus(api(), workflowId, 'continued', { runId: first.runId })

    const pinned = await post(`${workflowId}/runs/${first.runId}/signal/finish`)
    const latest = await post(`${workflowId}/signal/finish`)

    const facts = [pinned.status, pinned.body.error, pinned.body.workflowStatus]
    expect(facts).toEqual([409, 'WorkflowNotRunningError', 'continued'])
    expect([latest.status, latest.body.runId === first.runId]).toEqual([200, false])
  })

  rule('query.reads-without-changing', async () => {
    const { workflowId, runId } = await startMessages(api())
    const before = await api().service.get(`${workflowId}/status`)

    const none = await post(`${workflowId}/query/echo`)
    const one = await post(`${workflowId}/query/echo`, { payload: { a: 1 } })
    const several = await post(`${workflowId}/runs/${runId}/query/echo`, { args: [1, 'two'] })
    const nothing = await post(`${workflowId}/query/void`)

    const facts = [none.status, none.body, one.body, several.body, nothing.text]
    expect(facts).toEqual([200, [], [{ a: 1 }], [1, 'two'], 'null'])
    const after = await api().service.get(`${workflowId}/status`)
    expect(after.body.historyLength).toBe(before.body.historyLength)
    await post(`${workflowId}/signal/finish`)
  })

  test('query: a closed run responds while a worker is running', async () => {
    const { workflowId } = await startMessages(api())
    await post(`${workflowId}/update/set`, { payload: 'kept' })
    await post(`${workflowId}/signal/finish`)
    await untilStatus(api(), workflowId, 'completed')

    const { status, body } = await post(`${workflowId}/query/state`)

    expect([status, body]).toEqual([200, { gathered: [], value: 'kept' }])
  })

  test('query: a handler that throws', async () => {
    const { workflowId } = await startMessages(api())

    const threw = await post(`${workflowId}/query/throws`)
    const rejected = await post(`${workflowId}/query/throwsFailure`)

    const facts = [threw.status, threw.body.error, threw.body.source, rejected.body.error]
    expect(facts).toEqual([422, 'QueryFailedError', 'workflow', 'QueryFailedError'])
    expect([threw.body.message, rejected.body.message]).toEqual([
      expect.stringContaining('the query does not want to'),
      expect.stringContaining('the query rejects'),
    ])
    // The SDK of the worker sends no more than the message.
    expect(rejected.body.errorDetails).toMatchObject({ name: 'Error', message: 'the query rejects', details: [] })
    await post(`${workflowId}/signal/finish`)
  })

  test('query: without a worker it times out', async () => {
    const { workflowId } = await startDirectly(api(), 'messages', { taskQueue: `nobody-${anId()}` })

    const { status, body } = await api().restrictedService.post(`${workflowId}/query/state`)

    const facts = [status, body.error, body.source, body.workflowId]
    expect(facts).toEqual([504, 'DeadlineExceededError', 'engine', workflowId])
  })

  rule('update.changes-and-confirms', async () => {
    const { workflowId, runId } = await startMessages(api())

    const first = await post(`${workflowId}/update/set`, { payload: 'new' })
    const second = await post(`${workflowId}/runs/${runId}/update/set`, { args: ['newer'] })
    const nothing = await post(`${workflowId}/update/void`)

    const facts = [first.status, first.body, second.body, nothing.text]
    expect(facts).toEqual([200, { before: null, after: 'new' }, { before: 'new', after: 'newer' }, 'null'])
    expect((await post(`${workflowId}/query/state`)).body.value).toBe('newer')
    await post(`${workflowId}/signal/finish`)
  })

  test('update: a validator that rejects and a handler that fails', async () => {
    const { workflowId } = await startMessages(api())

    const rejected = await post(`${workflowId}/update/validated`, { payload: -1 })
    const failed = await post(`${workflowId}/update/fails`)

    expect([rejected.status, rejected.body.error, rejected.body.source]).toEqual([422, 'UpdateFailedError', 'workflow'])
    expect(rejected.body.message).toContain('-1 is not positive')
    expect([failed.status, failed.body.error]).toEqual([422, 'UpdateFailedError'])
    expect(failed.body.message).toContain('the update rejects')
    expect(rejected.body.errorDetails).toMatchObject({ name: 'Error', message: '-1 is not positive', details: [] })
    expect(failed.body.errorDetails).toEqual({
      message: 'the update rejects',
      name: 'UpdateRejected',
      retryable: false,
      activityId: null,
      details: [{ sku: '42' }, 'sold out'],
      cause: { name: 'Stock', message: 'out of stock', details: [0], cause: null },
    })
    expect((await post(`${workflowId}/query/state`)).body.value).toBeNull()
    await post(`${workflowId}/signal/finish`)
  })

  test('update: a closed run accepts none, and a run that closes during the update returns no result', async () => {
    const { workflowId, runId } = await startMessages(api())
    const waiting = post(`${workflowId}/update/wait`, { payload: 600_000 })
    await untilStatus(api(), workflowId, 'running', { events: 6 })

    await post(`${workflowId}/terminate`)
    const under = await waiting
    const after = await post(`${workflowId}/update/set`, { payload: 1 })

    const expected = expect.objectContaining({
      error: 'WorkflowNotRunningError',
      workflowId,
      runId,
      workflowStatus: 'terminated',
    })
    expect([under.status, under.body, after.status, after.body]).toEqual([409, expected, 409, expected])
  })

  test('update: without a worker it times out, with the ids to poll for the result', async () => {
    const { workflowId, firstExecutionRunId: runId } = await startDirectly(api(), 'messages', {
      taskQueue: `nobody-${anId()}`,
    })

    const { status, body } = await api().restrictedService.post(`${workflowId}/update/set`, { payload: 1 })

    expect([status, body]).toEqual([
      424,
      expect.objectContaining({
        error: 'OutcomeUnknownError',
        workflowId,
        runId,
        updateId: expect.stringMatching(/./),
        source: 'engine',
      }),
    ])
  })

  rule('messages.need-a-handler-of-that-name', async () => {
    const { workflowId } = await startMessages(api())

    const query = await post(`${workflowId}/query/nope`)
    const update = await post(`${workflowId}/update/nope`)
    const proto = await post(`${workflowId}/query/toString`)
    const signal = await post(`${workflowId}/signal/nope`, { payload: 1 })

    expect([query.status, query.body]).toEqual([
      404,
      expect.objectContaining({
        error: 'HandlerNotFoundError',
        source: 'workflow',
        available: expect.arrayContaining(['state', 'echo', 'void', 'throws']),
      }),
    ])
    const facts = [update.status, update.body.error, update.body.available]
    expect(facts).toEqual([404, 'HandlerNotFoundError', expect.arrayContaining(['set', 'validated'])])
    expect([proto.status, proto.body.error]).toEqual([404, 'HandlerNotFoundError'])
    // The engine keeps a signal for a handler that may come.
    expect([signal.status, signal.body.accepted]).toEqual([200, true])
    expect((await post(`${workflowId}/query/state`)).body).toEqual({ gathered: [], value: null })
    expect([...query.body.available, ...update.body.available].filter((name) => name.startsWith('__'))).toEqual([])
    await post(`${workflowId}/signal/finish`)
  })

  test('query and update: a run whose workflow task fails is not ready', async () => {
    const { workflowId } = await startDirectly(api(), 'failTask')
    const { client } = api()
    await until('the workflow task has failed thrice', async () => {
      const { raw } = await client.workflow.getHandle(workflowId).describe()
      return (raw.pendingWorkflowTask?.attempt ?? 0) >= 3
    })

    const query = await post(`${workflowId}/query/state`)
    const update = await post(`${workflowId}/update/set`)

    const expected = expect.objectContaining({ error: 'WorkflowNotReadyError', workflowId, source: 'engine' })
    expect([query.status, query.body, update.status, update.body]).toEqual([409, expected, 409, expected])
    await post(`${workflowId}/terminate`)
  })

  test('query and update: a paused run is not ready', async () => {
    const { workflowId } = await startDirectly(api(), 'messages')
    await untilStatus(api(), workflowId, 'running', { events: 4 })
    await pause(api(), workflowId)

    const query = await post(`${workflowId}/query/state`)
    const update = await post(`${workflowId}/update/set`)

    const expected = expect.objectContaining({
      error: 'WorkflowNotReadyError',
      workflowStatus: 'paused',
      source: 'engine',
    })
    expect([query.status, query.body, update.status, update.body]).toEqual([409, expected, 409, expected])
    await post(`${workflowId}/terminate`)
  })

  test('query: a run that was closed before its first workflow task is not ready', async () => {
    const { workflowId } = await startDirectly(api(), 'messages', { taskQueue: `nobody-${anId()}` })
    await post(`${workflowId}/terminate`)

    const { status, body } = await post(`${workflowId}/query/state`)

    expect([status, body.error, body.source]).toEqual([409, 'WorkflowNotReadyError', 'engine'])
  })
}
