/** The response to another command is lost: it reaches no later run, and is not carried out twice. */
import { describe, expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import type { Fault } from '../../support/fault-proxy.ts'
import { test } from '../../support/fixtures.ts'
import { nothing, sendOverFaultProxy, unknown } from './fixture.ts'

const BODIES = { complete: { output: 1 }, fail: { message: 'no' }, cancel: { details: 1 } }

describe.for(['grpc', 'http'] as const)('lost answers over %s', (transport) => {
  const { start, statusOf, end, proxy, api } = sendOverFaultProxy(transport)

  /** Ends the activity of a run while the first request of this method meets the fault. */
  async function endActivity(
    input: object,
    verb: 'complete' | 'fail' | 'cancel',
    fault: 'lost' | 'dropped',
    key?: string,
  ) {
    const { workflowId } = await start('completesOutside', input)
    const activity = `${workflowId}/activities/approval`
    await until('the activity waits', async () => (await api.post(`${activity}/heartbeat`)).status === 200)
    if (verb === 'cancel') {
      await api.call('PATCH', `/workflow/${workflowId}/stop`)
      await until('it should end', async () => (await api.post(`${activity}/heartbeat`)).body.cancelRequested)
    }
    const method = `RespondActivityTask${{ complete: 'Completed', fail: 'Failed', cancel: 'Canceled' }[verb]}ById`
    let attempts = 0
    const count = async () => attempts++
    const takeBack = proxy.on({
      method,
      containing: workflowId,
      fault: fault === 'lost' ? { lost: count } : { dropped: count },
    })
    const headers = key === undefined ? {} : { 'Idempotency-Key': key }
    const send = () => api.post(`${activity}/${verb}`, BODIES[verb], headers)
    const answer = await send()
    takeBack()
    return { answer, workflowId, activity, send, attempts: () => attempts }
  }

  test('complete, fail, cancel: one that was carried out is found, and never sent again', async () => {
    const found = [
      await endActivity({}, 'complete', 'lost'),
      await endActivity({ attempts: 1 }, 'fail', 'lost'),
      await endActivity({ retryInterval: '1h' }, 'fail', 'lost'),
      // The workflow has used the id of the activity again by then.
      await endActivity({ ids: ['approval', 'approval'] }, 'complete', 'lost'),
      await endActivity({}, 'cancel', 'lost'),
    ]

    expect(found.map(({ answer, attempts }) => [answer.status, attempts()])).toEqual(found.map(() => [200, 1]))
    const [completed, failed, retried, again, canceled] = found.map(({ workflowId }) => workflowId)
    expect((await api.get(`${completed}/result?wait=60s`)).body.output).toEqual([1])
    expect((await api.get(`${failed}/result?wait=60s`)).body.status).toBe('failed')
    expect((await api.get(`${canceled}/result?wait=60s`)).body.status).toBe('canceled')
    expect([(await statusOf(`${retried}`)).status, (await statusOf(`${again}`)).status]).toEqual(['running', 'running'])
    await Promise.all([retried, again].map((id) => end(`${id}`)))
  })

  test('complete, fail, cancel: one that may not have arrived is not sent again, and says so; its key can be used', async () => {
    const dropped = [
      await endActivity({}, 'complete', 'dropped', 'a-key'),
      await endActivity({ attempts: 1 }, 'fail', 'dropped', 'a-key'),
      await endActivity({}, 'cancel', 'dropped', 'a-key'),
    ]

    expect(dropped.map(({ answer, attempts }) => [...unknown(answer), attempts()])).toEqual(
      dropped.map(({ workflowId }) => [503, 'EngineUnavailableError', workflowId, null, 1]),
    )
    expect(dropped.map(({ answer }) => answer.body.activityId)).toEqual(dropped.map(() => 'approval'))
    const repeated = await Promise.all(dropped.map(({ send }) => send()))
    expect(repeated.map(({ status }) => status)).toEqual([200, 200, 200])
    await Promise.all(dropped.map(({ workflowId }) => api.get(`${workflowId}/result?wait=60s`)))
  })

  test('repairs: a retry that was carried out is not sent again, and each other request is', async () => {
    const { workflowId } = await start('completesOutside', { retryInterval: '1h' })
    const activity = `${workflowId}/activities/approval`
    const untilOpen = () =>
      until('an attempt is executed', async () => (await api.post(`${activity}/heartbeat`)).status === 200)
    const calls: string[] = []
    async function repair(name: string, method: string, fault: 'lost' | 'dropped') {
      const record = async () => void calls.push(`${name} ${fault}`)
      const takeBack = proxy.on({
        ...{ method, containing: workflowId, fault: fault === 'lost' ? { lost: record } : { dropped: record } },
        ...(name !== 'retry' && { times: 1 }),
        ...(fault === 'dropped' && { times: 1 }),
      })
      const answer = await (name === 'set'
        ? api.call('PATCH', `/workflow/${activity}`, { startToCloseTimeout: '2m' })
        : api.post(`${activity}/${name}`))
      takeBack()
      return answer
    }
    const backOff = async () => {
      await untilOpen()
      await api.post(`${activity}/fail`, { message: 'no' })
    }

    await backOff()
    const lost = await repair('retry', 'ResetActivityExecution', 'lost')
    await backOff()
    const dropped = await repair('retry', 'ResetActivityExecution', 'dropped')
    await backOff()
    const paused = await repair('pause', 'PauseActivityExecution', 'lost')
    const unpaused = await repair('unpause', 'UnpauseActivityExecution', 'lost')
    await untilOpen()
    const set = await repair('set', 'UpdateActivityExecutionOptions', 'lost')

    expect([lost, dropped, paused, unpaused, set].map(({ status }) => status)).toEqual(Array(5).fill(200))
    expect(set.body.options.startToCloseTimeoutMs).toBe(120_000)
    expect(calls).toEqual(['retry lost', 'retry dropped', 'pause lost', 'unpause lost', 'set lost'])
    await end(workflowId)
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
      [424, 'OutcomeUnknownError', dropped.workflowId, null],
      [424, 'OutcomeUnknownError', other.workflowId, null],
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
})
