/** The response to another command is lost: it reaches no later run, and is not carried out twice. */
import { describe, expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import type { Fault } from '../../support/fault-proxy.ts'
import { test } from '../../support/fixtures.ts'
import { nothing, sendOverFaultProxy, unknown } from './fixture.ts'

describe.for(['grpc', 'http'] as const)('lost answers over %s', (transport) => {
  const { start, statusOf, ended, end, continueAsNew, proxy, api } = sendOverFaultProxy(transport)

  test('stop: reaches the run that the workflow has continued as, and no later use of the id', async ({
    connection,
  }) => {
    const [goesOn, used] = [await start('chainOnSignal', 1), await start('neverEnds')]
    const method = 'RequestCancelWorkflowExecution'
    const useAgain = async () => {
      await ended(used)
      await start('neverEnds', null, used.workflowId)
    }
    proxy.on({ method, containing: goesOn.workflowId, fault: { dropped: () => continueAsNew(goesOn) }, times: 1 })
    proxy.on({ method, containing: used.workflowId, fault: { lost: useAgain }, times: 1 })

    const reached = await api.call('PATCH', `/workflow/${goesOn.workflowId}/stop`)
    const stopped = await api.call('PATCH', `/workflow/${used.workflowId}/stop`)
    const laterUse = { namespace: 'default', execution: { workflowId: used.workflowId } }
    const { workflowExtendedInfo } = await connection.workflowService.describeWorkflowExecution(laterUse)

    expect([reached.status, reached.body.cancelRequested]).toEqual([200, true])
    await until('the successor is canceled', async () => (await statusOf(goesOn.workflowId)).status === 'canceled')
    expect([stopped.status, stopped.body.runId]).toEqual([200, used.runId])
    expect((await statusOf(`${used.workflowId}/runs/${used.runId}`)).status).toBe('canceled')
    expect(workflowExtendedInfo?.cancelRequested).toBe(false)
    await end(used.workflowId)
  })

  /** Ends the activity of a run while the first request of this method meets the fault. */
  async function endActivity(input: object, verb: 'complete' | 'fail', fault: 'lost' | 'dropped', key?: string) {
    const { workflowId } = await start('completesOutside', input)
    const activity = `${workflowId}/activities/approval`
    await until('the activity waits', async () => (await api.post(`${activity}/heartbeat`)).status === 200)
    const method = verb === 'complete' ? 'RespondActivityTaskCompletedById' : 'RespondActivityTaskFailedById'
    let attempts = 0
    const count = async () => attempts++
    const takeBack = proxy.on({
      method,
      containing: workflowId,
      fault: fault === 'lost' ? { lost: count } : { dropped: count },
    })
    const headers = key === undefined ? {} : { 'Idempotency-Key': key }
    const send = () => api.post(`${activity}/${verb}`, verb === 'fail' ? { message: 'no' } : { output: 1 }, headers)
    const answer = await send()
    takeBack()
    return { answer, workflowId, activity, send, attempts: () => attempts }
  }

  test('complete and fail: one that was carried out is found, and never sent again', async () => {
    const found = [
      await endActivity({}, 'complete', 'lost'),
      await endActivity({ attempts: 1 }, 'fail', 'lost'),
      await endActivity({ retryInterval: '1h' }, 'fail', 'lost'),
      // The workflow has used the id of the activity again by then.
      await endActivity({ ids: ['approval', 'approval'] }, 'complete', 'lost'),
    ]

    expect(found.map(({ answer, attempts }) => [answer.status, attempts()])).toEqual(found.map(() => [200, 1]))
    const [completed, failed, retried, again] = found.map(({ workflowId }) => workflowId)
    expect((await api.get(`${completed}/result?wait=60s`)).body.output).toEqual([1])
    expect((await api.get(`${failed}/result?wait=60s`)).body.status).toBe('failed')
    expect([(await statusOf(`${retried}`)).status, (await statusOf(`${again}`)).status]).toEqual(['running', 'running'])
    await Promise.all([retried, again].map((id) => end(`${id}`)))
  })

  test('complete and fail: one that may not have arrived is not sent again, and says so; its key can be used', async () => {
    const dropped = [
      await endActivity({}, 'complete', 'dropped', 'a-key'),
      await endActivity({ attempts: 1 }, 'fail', 'dropped', 'a-key'),
    ]

    expect(dropped.map(({ answer, attempts }) => [...unknown(answer), attempts()])).toEqual(
      dropped.map(({ workflowId }) => [503, 'EngineUnavailableError', workflowId, null, 1]),
    )
    expect(dropped.map(({ answer }) => answer.body.activityId)).toEqual(['approval', 'approval'])
    const repeated = await Promise.all(dropped.map(({ send }) => send()))
    expect(repeated.map(({ status }) => status)).toEqual([200, 200])
    await Promise.all(dropped.map(({ workflowId }) => api.get(`${workflowId}/result?wait=60s`)))
  })

  async function completed(): Promise<{ workflowId: string; runId: string }> {
    const { body } = await api.run('everyKind', 1, { workflowId: `lost-${crypto.randomUUID()}` })
    return { workflowId: body.workflowId, runId: body.runId }
  }

  async function resetAndFault({ workflowId }: { workflowId: string }, fault: Fault, reason = 'ours') {
    const method = 'ResetWorkflowExecution'
    const takeBack = proxy.on({ method, containing: workflowId, fault, times: 1 })
    const answer = await api.post(`${workflowId}/reset`, { stepName: 'echoBack', reason })
    takeBack()
    return answer
  }

  test('reset: one that was carried out is found, and not carried out again', async () => {
    const run = await completed()
    await resetAndFault(run, { lost: nothing }, 'first')
    await until('the new run has ended', async () => (await statusOf(run.workflowId)).status === 'completed')

    const created: string[] = []
    const lost = async () => void created.push((await statusOf(run.workflowId)).runId)
    const { status, body } = await resetAndFault(run, { lost })

    expect([status, body.runsAgain]).toEqual([200, []])
    // A second reset would have created a later run.
    expect([body.runId, (await statusOf(run.workflowId)).runId]).toEqual([...created, ...created])
  })

  test('reset: one that may not have arrived is not sent again, nor is that of another client its result', async () => {
    const [dropped, other] = [await completed(), await completed()]
    const otherClient = () => api.post(`${other.workflowId}/reset`, { stepName: 'echoBack', reason: 'theirs' })

    const unknownOutcomes = [
      await resetAndFault(dropped, { dropped: nothing }),
      await resetAndFault(other, { dropped: otherClient }),
    ]

    expect(unknownOutcomes.map(unknown)).toEqual([
      [503, 'EngineUnavailableError', dropped.workflowId, null],
      [503, 'EngineUnavailableError', other.workflowId, null],
    ])
    expect(unknownOutcomes.map(({ body }) => body.runId)).toEqual([dropped.runId, other.runId])
    expect((await statusOf(dropped.workflowId)).runId).toBe(dropped.runId)
  })

  test('pause: is repeated, and a run that is paused already is what was requested', async () => {
    const { workflowId, runId } = await start('messages')
    await until('its workflow task has completed', async () => (await statusOf(workflowId)).historyLength >= 4)
    const pauseAndFault = (action: string, method: string) => {
      proxy.on({ method, containing: workflowId, fault: { lost: nothing }, times: 1 })
      return api.post(`${workflowId}/${action}`)
    }

    const paused = await pauseAndFault('pause', 'PauseWorkflowExecution')
    const { status } = await statusOf(workflowId)
    const unpaused = await pauseAndFault('unpause', 'UnpauseWorkflowExecution')

    expect([paused.status, paused.body]).toEqual([200, { workflowId, runId, paused: true }])
    expect([unpaused.status, unpaused.body]).toEqual([200, { workflowId, runId, paused: false }])
    expect([status, (await statusOf(workflowId)).status]).toEqual(['paused', 'running'])
    await end(workflowId)
  })

  test('terminate: ends the run that was open, and no later use of the id', async () => {
    const run = await start('neverEnds')
    const useAgain = () => start('neverEnds', null, run.workflowId)
    const method = 'TerminateWorkflowExecution'
    proxy.on({ method, containing: run.workflowId, fault: { lost: useAgain }, times: 1 })

    const answer = await end(run.workflowId)

    expect(unknown(answer)).toEqual([503, 'EngineUnavailableError', run.workflowId, null])
    expect(answer.body.runId).toBe(run.runId)
    expect((await statusOf(run.workflowId)).status).toBe('running')
    await end(run.workflowId)
  })
})
