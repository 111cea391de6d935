import { expect, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { type ApiFixture, anId, startDirectly, startMessages, untilStatus } from './api-fixture.ts'

/** POST reset, pause and unpause. */
export function changeRuns(api: () => ApiFixture): void {
  const post = (path: string, body?: unknown) => api().service.post(path, body)
  const get = (path: string) => api().service.get(path)

  test('reset: a closed run continues as a new one after the step, and its own result stays the same', async () => {
    const { body: ran } = await api().service.run('manySteps', { n: 2 })
    const { workflowId, runId: baseRunId } = ran
    // Both are kept in memory.
    const before = [await get(`${workflowId}/result`), await get(`${workflowId}/runs/${baseRunId}/result`)]

    const { status, body } = await post(`${workflowId}/reset`, { stepName: 'step', reason: 'a fix' })
    await untilStatus(api(), workflowId, 'completed')
    const pinned = await post(`${workflowId}/runs/${baseRunId}/reset`, { eventId: 5 })
    const latest = await get(`${workflowId}/status`)
    await untilStatus(api(), workflowId, 'completed')

    expect([status, body]).toEqual([200, { workflowId, runId: body.runId, runsAgain: [] }])
    expect([pinned.status, pinned.body]).toEqual([200, { workflowId, runId: latest.body.runId, runsAgain: ['step'] }])
    expect(new Set([baseRunId, body.runId, pinned.body.runId]).size).toBe(3)
    expect((await get(`${workflowId}/result`)).body).toEqual({ ...ran, runId: pinned.body.runId })
    expect((await get(`${workflowId}/runs/${baseRunId}/result`)).body).toEqual(ran)
    expect(before.map((answer) => answer.body)).toEqual([ran, ran])
  })

  test('reset: an open run is terminated; messages reach the new run', async () => {
    const { workflowId, runId } = await startMessages(api())

    const { status, body } = await post(`${workflowId}/reset`, { eventId: 1 })
    const base = await get(`${workflowId}/runs/${runId}/status`)
    const signal = await post(`${workflowId}/signal/finish`)

    expect([status, base.body.status, signal.body.runId]).toEqual([200, 'terminated', body.runId])
    await untilStatus(api(), workflowId, 'completed')
  })

  test('reset: a step that does not exist, has not completed, or is not named is rejected', async () => {
    const { body: ran } = await api().service.run('failInActivity')
    const path = `${ran.workflowId}/reset`

    const rejected = await Promise.all(
      [{ stepName: 'nope' }, { stepName: 'rejects' }, { eventId: 999 }, {}, { stepName: 'a', eventId: 1 }].map((body) =>
        post(path, body),
      ),
    )
    const missing = await post(`${anId()}/reset`, { eventId: 1 })

    expect(rejected.map(({ status, body: { error, issues } }) => [status, error, issues?.[0].path])).toEqual([
      [404, 'StepNotFoundError', undefined],
      [409, 'StepNotCompletedError', undefined],
      [400, 'ValidationError', '/eventId'],
      [400, 'ValidationError', ''],
      [400, 'ValidationError', ''],
    ])
    expect(rejected[0]?.body.available).toEqual(['rejects'])
    expect([missing.status, missing.body.error]).toEqual([404, 'WorkflowNotFoundError'])
  })

  test('pause and unpause: hold the run and let it continue, also when it is so already', async () => {
    const { workflowId, runId } = await startMessages(api())

    const paused = [await post(`${workflowId}/pause`, { reason: 'lunch' }), await post(`${workflowId}/pause`)]
    const { body: held } = await get(`${workflowId}/status`)
    const update = await post(`${workflowId}/update/set`, { payload: 1 })
    await post(`${workflowId}/signal/add`, { payload: 'held' })
    const pinned = `${workflowId}/runs/${runId}`
    const unpaused = [await post(`${pinned}/unpause`, { reason: 'back' }), await post(`${workflowId}/unpause`)]
    // A worker may still have to take the workflow task that follows the pause.
    const again = await until('it can be paused', async () => {
      const answer = await post(`${pinned}/pause`)
      return answer.status === 200 && answer
    })
    await post(`${workflowId}/unpause`)

    const answers = [...paused, ...unpaused, again].map(({ status, body }) => [status, body])
    const on = [200, { workflowId, runId, paused: true }]
    const off = [200, { workflowId, runId, paused: false }]
    expect(answers).toEqual([on, on, off, off, on])
    expect([held.status, update.status, update.body.workflowStatus]).toEqual(['paused', 409, 'paused'])
    await post(`${workflowId}/signal/finish`)
    await untilStatus(api(), workflowId, 'completed')
    expect((await get(`${workflowId}/result`)).body.output.gathered).toEqual(['held'])
  })

  test('pause: a run whose workflow task waits for a worker is a 409 with Retry-After, and is not paused', async () => {
    const { workflowId } = await startDirectly(api(), 'any', { taskQueue: `nobody-${anId()}` })

    const { status, body, headers } = await post(`${workflowId}/pause`)

    expect([status, body.error, headers.get('Retry-After')]).toEqual([409, 'WorkflowNotReadyError', '1'])
    expect((await get(`${workflowId}/status`)).body.status).toBe('running')
    await post(`${workflowId}/terminate`)
  })

  test('pause and unpause: a closed run is a 409, a missing one a 404', async () => {
    const { body: ran } = await api().service.run('nothing')
    const ids = [ran.workflowId, anId()]

    const rejected = await Promise.all(ids.flatMap((id) => [post(`${id}/pause`), post(`${id}/unpause`)]))

    expect(rejected.map(({ status, body }) => [status, body.error])).toEqual([
      [409, 'WorkflowNotRunningError'],
      [409, 'WorkflowNotRunningError'],
      [404, 'WorkflowNotFoundError'],
      [404, 'WorkflowNotFoundError'],
    ])
  })
}
