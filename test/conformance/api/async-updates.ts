import { expect, test } from 'vitest'
import { type ApiFixture, anId, startMessages } from './api-fixture.ts'

const PREFER = { Prefer: 'respond-async' }

/** POST update with `Prefer: respond-async`, and GET of the update. */
export function asyncUpdates(api: () => ApiFixture): void {
  const get = (path: string) => api().service.call('GET', path)
  const update = (path: string, payload: unknown, headers: Record<string, string> = PREFER) =>
    api().service.post(path, { payload }, headers)

  test('async update: is accepted with a Location, which has the value once it has completed', async () => {
    if (api().hasGap('async-updates')) return
    const { workflowId, runId } = await startMessages(api())

    const { status, headers, body } = await update(`${workflowId}/update/waitFor`, 'go')
    const { updateId } = body
    const location = headers.get('Location') ?? ''
    const running = await get(location)
    await api().service.post(`${workflowId}/signal/add`, { payload: 'go' })
    const completed = await get(`${location}?wait=20s`)
    await api().service.post(`${workflowId}/terminate`)
    const unpinned = await get(`/workflow/${workflowId}/update/waitFor/${updateId}`)

    const accepted = { workflowId, runId, updateId, stage: 'accepted' }
    expect([status, body, headers.get('Preference-Applied')]).toEqual([202, accepted, 'respond-async'])
    expect(location).toBe(`/workflow/${workflowId}/runs/${runId}/update/waitFor/${updateId}`)
    expect([running.status, running.body]).toEqual([202, accepted])
    expect([completed.status, completed.body, unpinned.status, unpinned.body]).toEqual([200, ['go'], 200, ['go']])
  })

  test('async update: with wait=n the value comes at once if it is there in time, and a rejected update is a 422', async () => {
    if (api().hasGap('async-updates')) return
    const { workflowId, runId } = await startMessages(api())
    const path = `${workflowId}/runs/${runId}/update`

    const quick = await update(`${path}/set`, 'on', { Prefer: 'respond-async, wait=20' })
    const slow = await update(`${path}/waitFor`, 'never', { Prefer: 'wait=1, respond-async' })
    const rejected = await update(`${path}/validated`, -1)

    expect([quick.status, quick.body]).toEqual([200, { before: null, after: 'on' }])
    expect(quick.headers.get('Preference-Applied')).toBe('respond-async, wait=20')
    expect([slow.status, slow.body.stage]).toEqual([202, 'accepted'])
    expect([rejected.status, rejected.body.error]).toEqual([422, 'UpdateFailedError'])
    const missing = await get(`/workflow/${workflowId}/update/validated/${rejected.body.updateId}`)
    expect([missing.status, missing.body.error]).toEqual([404, 'UpdateNotFoundError'])
    await api().service.post(`${workflowId}/terminate`)
  })

  test('update: one that is accepted, and not completed in time, says so with a Location', async () => {
    if (api().hasGap('async-updates')) return
    const { workflowId, runId } = await startMessages(api())

    const late = await api().restrictedService.post(`${workflowId}/update/waitFor`, { payload: 'go' })
    await api().service.post(`${workflowId}/signal/add`, { payload: 'go' })
    const completed = await get(`${late.headers.get('Location')}?wait=20s`)

    expect([late.status, late.body]).toMatchObject([
      424,
      { error: 'OutcomeUnknownError', workflowId, runId, updateId: expect.any(String), stage: 'accepted' },
    ])
    expect([completed.status, completed.body]).toEqual([200, ['go']])
    await api().service.post(`${workflowId}/terminate`)
  })

  test('async update: an unknown workflow is a 404', async () => {
    if (api().hasGap('async-updates')) return

    const { status, body } = await get(`/workflow/${anId()}/update/set/u`)

    expect([status, body.error]).toEqual([404, 'WorkflowNotFoundError'])
  })

  test('async update: where it is not supported, the engine is not called', async () => {
    const { serviceWithoutEngine, hasGap } = api()
    const expected = hasGap('async-updates') ? [501, 'NotSupportedError'] : [503, 'EngineUnavailableError']

    const sent = await serviceWithoutEngine.post('w/update/set', {}, PREFER)
    const read = await serviceWithoutEngine.get('w/update/set/u')

    expect([sent, read].map(({ status, body }) => [status, body.error])).toEqual([expected, expected])
    if (hasGap('async-updates')) expect(sent.body.message).toContain('GET /capabilities: asyncUpdates')
  })
}
