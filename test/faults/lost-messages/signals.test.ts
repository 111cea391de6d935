/** A signal whose response is lost, also one that starts a run: a later run does not get it. */
import { describe, expect } from 'vitest'
import type { Fault } from '../../support/fault-proxy.ts'
import { test } from '../../support/fixtures.ts'
import { nothing, sendOverFaultProxy, unknown } from './fixture.ts'

describe.for(['grpc', 'http'] as const)('lost answers over %s', (transport) => {
  const {
    start,
    signal,
    faulted,
    ended,
    state,
    round,
    end,
    continueAsNew,
    reuse,
    reuseAndClose,
    startListed,
    proxy,
    api,
  } = sendOverFaultProxy(transport)

  test('signal: is delivered once to a run that is still the latest (failure 6)', async () => {
    const { workflowId, runId } = await start('messages')

    const lost = await faulted(`${workflowId}/signal/add`, { lost: nothing }, 1)
    const dropped = await faulted(`${workflowId}/signal/add`, { dropped: nothing }, 2)

    expect([lost.status, lost.body.runId]).toEqual([200, runId])
    expect([dropped.status, dropped.body.runId]).toEqual([200, runId])
    expect((await state(workflowId)).gathered).toEqual([1, 2])
    await end(workflowId)
  })

  test('signal: is not sent to the next run when its own run did not accept it', async () => {
    const run = await start('chainOnSignal', 1)
    const { workflowId } = run

    const answer = await faulted(`${workflowId}/signal/next`, { dropped: () => continueAsNew(run) })

    expect(unknown(answer)).toEqual([424, 'OutcomeUnknownError', workflowId, null])
    expect(await round(workflowId)).toBe(2)
    await end(workflowId)
  })

  test('signal: it is unknown whether a next run that has already ended accepted it', async () => {
    const run = await start('chainOnSignal', 1)
    const { workflowId } = run
    const goOnAndEnd = async () => {
      await continueAsNew(run)
      await end(workflowId)
    }

    const answer = await faulted(`${workflowId}/signal/next`, { dropped: goOnAndEnd })

    expect(unknown(answer)).toEqual([424, 'OutcomeUnknownError', workflowId, null])
  })

  test('signal: the run that accepted it and ended is returned', async () => {
    const run = await start('waitForSignal')

    const { status, body } = await faulted(`${run.workflowId}/signal/finish`, { lost: () => ended(run) }, 'once')

    expect([status, body.runId]).toEqual([200, run.runId])
  })

  test('signal: a run that ended without it is not running', async () => {
    const run = await start('messages')
    const { workflowId, runId } = run

    const { status, body } = await faulted(`${workflowId}/signal/add`, { dropped: () => end(workflowId) })

    const facts = [status, body.error, body.runId, body.workflowStatus]
    expect(facts).toEqual([409, 'WorkflowNotRunningError', runId, 'terminated'])
  })

  test('signal: the run that accepted it is returned; a later use of the id does not get it, open or closed', async () => {
    const [open, closed] = [await startListed('messages'), await startListed('messages')]

    const answers = [
      await faulted(`${open.workflowId}/signal/add`, { lost: () => reuse(open) }, 'for the first'),
      await faulted(`${closed.workflowId}/signal/add`, { lost: () => reuseAndClose(closed) }, 'for the first'),
    ]

    expect(answers.map(({ status, body }) => [status, body.runId])).toEqual([
      [200, open.runId],
      [200, closed.runId],
    ])
    expect((await state(open.workflowId)).gathered).toEqual([])
    expect((await api.get(`${closed.workflowId}/result`)).body.output.gathered).toEqual([])
    await end(open.workflowId)
  })

  test('signal: a later use of the id does not get it when its own run did not accept it', async () => {
    const run = await startListed('messages')

    const answer = await faulted(`${run.workflowId}/signal/add`, { dropped: () => reuse(run) }, 'for the first')

    expect(unknown(answer)).toEqual([424, 'OutcomeUnknownError', run.workflowId, null])
    expect((await state(run.workflowId)).gathered).toEqual([])
    await end(run.workflowId)
  })

  test('signal: the next attempt of a retry policy does not get it', async ({ connection, catalog }) => {
    const workflowId = `lost-${crypto.randomUUID()}`
    const { runId = '' } = await connection.workflowService.startWorkflowExecution({
      namespace: 'default',
      workflowId,
      workflowType: { name: 'failsOnSignal' },
      taskQueue: { name: `${catalog}-${transport}` },
      requestId: crypto.randomUUID(),
      retryPolicy: { initialInterval: { nanos: 1_000_000 }, maximumAttempts: 5 },
    })

    const { status, body } = await faulted(`${workflowId}/signal/next`, { lost: () => ended({ workflowId, runId }) })

    expect([status, body.runId]).toEqual([200, runId])
    expect(await state(workflowId)).toBe(2)
    await end(workflowId)
  })

  test('signal, update: a message to one run is sent again to that run, whatever followed it', async () => {
    const run = await start('chainOnSignal', 1)
    const { workflowId, runId } = run

    const updated = await faulted(`${workflowId}/runs/${runId}/update/round`, { lost: nothing })
    const signalled = await faulted(`${workflowId}/runs/${runId}/signal/next`, { lost: () => ended(run) })

    expect([updated.status, updated.body]).toEqual([200, 1])
    expect([signalled.status, signalled.body.runId]).toEqual([200, runId])
    expect(await round(workflowId)).toBe(2)
    await end(workflowId)
  })

  test('signal: a signal to one run is sent again to that run even if the id has been reused', async () => {
    const run = await start('messages')
    const { workflowId, runId } = run

    const { status, body } = await faulted(`${workflowId}/runs/${runId}/signal/add`, { lost: () => reuse(run) }, 1)

    expect([status, body.runId]).toEqual([200, runId])
    expect((await state(workflowId)).gathered).toEqual([])
    await end(workflowId)
  })

  test('signal: if its run cannot be described after two lost responses, the error has the ids and no Retry-After', async () => {
    const { workflowId } = await start('messages')
    const hide = async () => proxy.on({ method: 'DescribeWorkflowExecution', containing: workflowId, fault: 'close' })
    const takeBack = proxy.on({
      method: 'SignalWorkflowExecution',
      containing: workflowId,
      fault: { dropped: () => end(workflowId) },
      times: 1,
    })
    proxy.on({ method: 'SignalWorkflowExecution', containing: workflowId, fault: { dropped: hide }, times: 1 })

    const answer = await signal(workflowId, 'add', 1)
    takeBack()

    expect(unknown(answer)).toEqual([424, 'OutcomeUnknownError', workflowId, null])
  })

  /** A signal-with-start whose first attempt meets this fault. */
  async function signalAndFault(workflowId: string, name: string, fault: Fault, payload: unknown = null) {
    const method = 'SignalWithStartWorkflowExecution'
    const takeBack = proxy.on({ method, containing: workflowId, fault, times: 1 })
    const start = { workflowName: 'messages', input: null, workflowId }
    const answer = await api.post(`signal-with-start/${name}`, { ...start, payload })
    takeBack()
    return answer
  }

  test('signal-with-start: a run that was open gets the signal once; one that ended without it is followed by a new run', async () => {
    const [found, gone] = [await start('messages'), await start('messages')]

    const kept = await signalAndFault(found.workflowId, 'add', { lost: nothing }, 1)
    const closed = await signalAndFault(gone.workflowId, 'add', { dropped: () => end(gone.workflowId) }, 2)

    expect([kept.status, kept.body]).toEqual([200, { ...found, started: false }])
    expect((await state(found.workflowId)).gathered).toEqual([1])
    expect([closed.status, closed.body.started, closed.body.runId === gone.runId]).toEqual([200, true, false])
    expect((await state(gone.workflowId)).gathered).toEqual([2])
    await Promise.all([end(found.workflowId), end(gone.workflowId)])
  })

  test('signal-with-start: if another run may have received the signal, no later run gets it', async () => {
    const run = await start('messages')

    const answer = await signalAndFault(run.workflowId, 'add', { lost: () => reuse(run) }, 1)

    expect(unknown(answer)).toEqual([424, 'OutcomeUnknownError', run.workflowId, null])
    expect((await state(run.workflowId)).gathered).toEqual([])
    await end(run.workflowId)
  })
})
