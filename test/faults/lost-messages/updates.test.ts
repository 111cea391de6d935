/** An update whose response is lost: its result is returned, and a later run does not get it. */
import { describe, expect } from 'vitest'
import { test } from '../../support/fixtures.ts'
import { nothing, sendOverFaultProxy, unknown } from './fixture.ts'

describe.for(['grpc', 'http'] as const)('lost answers over %s', (transport) => {
  const { start, faulted, state, end, continueAsNew, reuse, reuseAndClose, startListed, proxy, api } =
    sendOverFaultProxy(transport)

  test('update: is carried out once, and its result is returned', async () => {
    const { workflowId } = await start('messages')

    const lost = await faulted(`${workflowId}/update/set`, { lost: nothing }, 'a')
    const dropped = await faulted(`${workflowId}/update/set`, { dropped: nothing }, 'b')

    expect([lost.status, lost.body]).toEqual([200, { before: null, after: 'a' }])
    expect([dropped.status, dropped.body]).toEqual([200, { before: 'a', after: 'b' }])
    await end(workflowId)
  })

  // Temporal's HTTP API cannot read updates.
  if (transport === 'grpc')
    test('update: an asynchronous one is carried out once, too', async () => {
      const { workflowId, runId } = await start('messages')
      const method = 'UpdateWorkflowExecution'
      proxy.on({ method, containing: workflowId, fault: { lost: nothing }, times: 1 })

      const path = `/workflow/${workflowId}/update/set`
      const { status, headers, body } = await api.call('POST', path, { payload: 1 }, { Prefer: 'respond-async' })
      const result = await api.call('GET', `${headers.get('Location')}?wait=60s`)

      expect([status, body.runId, result.status, result.body]).toEqual([202, runId, 200, { before: null, after: 1 }])
      await end(workflowId)
    })

  test('update: the result of a run that has continued as new is returned; the next run does not get it', async () => {
    const run = await start('chainOnSignal', 1)
    const { workflowId } = run

    const { status, body } = await faulted(`${workflowId}/update/round`, { lost: () => continueAsNew(run) })

    expect([status, body]).toEqual([200, 1])
    const [first, successor] = await Promise.all(
      [`${workflowId}/runs/${run.runId}`, workflowId].map((path) => api.get(`${path}/trace-log`)),
    )
    expect([first, successor].map((trace) => trace?.text.match(/"kind":"update"/g)?.length ?? 0)).toEqual([1, 0])
    await end(workflowId)
  })

  test('update: is not sent to the next run when its own run did not accept it', async () => {
    const run = await start('chainOnSignal', 1)
    const { workflowId } = run

    const answer = await faulted(`${workflowId}/update/round`, { dropped: () => continueAsNew(run) })

    expect(unknown(answer)).toEqual([424, 'OutcomeUnknownError', workflowId, null])
    expect(answer.body.updateId).toMatch(/./)
    const { text: chain } = await api.get(`${workflowId}/trace-log`)
    expect(chain).not.toContain('"kind":"update"')
    await end(workflowId)
  })

  test('update: the result of its run is returned; a later use of the id does not get it, open or closed', async () => {
    const [open, closed] = [await startListed('messages'), await startListed('messages')]

    const answers = [
      await faulted(`${open.workflowId}/update/set`, { lost: () => reuse(open) }, 'for the first'),
      await faulted(`${closed.workflowId}/update/set`, { lost: () => reuseAndClose(closed) }, 'for the first'),
    ]

    const result = { before: null, after: 'for the first' }
    expect(answers.map(({ status, body }) => [status, body])).toEqual([
      [200, result],
      [200, result],
    ])
    expect((await state(open.workflowId)).value).toBeNull()
    expect((await api.get(`${closed.workflowId}/result`)).body.output.value).toBeNull()
    await end(open.workflowId)
  })

  test('update: a later use of the id does not get it when its own run did not accept it', async () => {
    const run = await startListed('messages')

    const answer = await faulted(`${run.workflowId}/update/set`, { dropped: () => reuse(run) }, 'for the first')

    expect(unknown(answer)).toEqual([424, 'OutcomeUnknownError', run.workflowId, null])
    expect(typeof answer.body.updateId).toBe('string')
    expect((await state(run.workflowId)).value).toBeNull()
    await end(run.workflowId)
  })

  test('update: a run that ended after it is answered from, one that ended without it is not running', async () => {
    const [after, without] = [await start('messages'), await start('messages')]

    const value = await faulted(`${after.workflowId}/update/set`, { lost: () => end(after.workflowId) }, 'a')
    const rejected = await faulted(`${without.workflowId}/update/set`, { dropped: () => end(without.workflowId) }, 'a')

    expect([value.status, value.body]).toEqual([200, { before: null, after: 'a' }])
    const facts = [rejected.status, rejected.body.error, rejected.body.runId]
    expect(facts).toEqual([409, 'WorkflowNotRunningError', without.runId])
  })
})
