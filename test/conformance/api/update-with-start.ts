import { expect, test } from 'vitest'
import { type ApiFixture, anId, untilStatus } from './api-fixture.ts'

/** POST /workflow/update-with-start/:name. */
export function updateWithStart(api: () => ApiFixture): void {
  const MESSAGES = { workflowName: 'messages', input: null }

  function post(path: string, body?: unknown, service: 'restrictedService' | 'service' = 'service') {
    return api()[service].post(path, body)
  }

  /** Where the engine is reached over its HTTP API that is the answer to all of these. */
  async function isLacking(path: string, body: unknown): Promise<boolean> {
    if (!api().hasGap('update-with-start')) return false
    const { status, body: rejected } = await post(path, body)
    expect([status, rejected.error, rejected.source]).toEqual([501, 'NotSupportedError', 'gateway'])
    expect(rejected.message).toContain('HTTP API')
    return true
  }

  test('update-with-start: starts the run and responds while it keeps running; the next request finds it', async () => {
    const workflowId = anId()
    const body = { ...MESSAGES, workflowId, payload: 'new' }
    if (await isLacking('update-with-start/set', body)) return

    const first = await post('update-with-start/set', body)
    const second = await post('update-with-start/set', { ...body, workflowName: 'echo', payload: 'newer' })

    const { runId } = first.body
    expect([first.status, first.headers.get('Location')]).toEqual([200, `/workflow/${workflowId}/result`])
    expect(first.body).toEqual({ workflowId, runId, started: true, result: { before: null, after: 'new' } })
    expect(second.body).toEqual({ workflowId, runId, started: false, result: { before: 'new', after: 'newer' } })
    await post(`${workflowId}/signal/finish`)
    await untilStatus(api(), workflowId, 'completed')
  })

  test('update-with-start: with respond-async the answer comes once the update is accepted; a key finds it again', async () => {
    const workflowId = anId()
    const body = { ...MESSAGES, workflowId, payload: 'go' }
    const send = (name: string, sent: object, headers = {}) =>
      api().service.post(`update-with-start/${name}`, sent, { Prefer: 'respond-async', ...headers })
    const key = { 'Idempotency-Key': workflowId }
    const first = await send('waitFor', body, key)
    if (api().hasGap('update-with-start')) {
      expect([first.status, first.body.error]).toEqual([501, 'NotSupportedError'])
      return
    }

    const again = await send('waitFor', body, key)
    const quick = await send('set', { ...body, workflowName: 'echo' }, { Prefer: 'respond-async, wait=20' })
    const rejected = await send('validated', { ...body, payload: -1 })
    const path = first.headers.get('Location') ?? ''
    await post(`${workflowId}/signal/add`, { payload: 'go' })
    const result = await api().service.call('GET', `${path}?wait=20s`)

    const { runId, updateId } = first.body
    expect(path).toBe(`/workflow/${workflowId}/runs/${runId}/update/waitFor/${updateId}`)
    expect(
      [first, again].map(({ status, body, headers }) => [status, body, headers.get('Idempotency-Replayed')]),
    ).toEqual(
      ['false', 'true'].map((replayed) => [
        202,
        { workflowId, runId, updateId: expect.stringMatching(/^key-/), stage: 'accepted', started: true },
        replayed,
      ]),
    )
    const updated = { workflowId, runId, started: false, result: { before: null, after: 'go' } }
    expect([quick.status, quick.body, quick.headers.get('Preference-Applied')]).toEqual([
      200,
      updated,
      'respond-async, wait=20',
    ])
    expect([rejected.status, rejected.body.error, rejected.body.runId]).toEqual([422, 'UpdateFailedError', runId])
    expect([result.status, result.body]).toEqual([200, ['go']])
    await post(`${workflowId}/terminate`)
  })

  test('update-with-start: makes an id, takes several arguments, and starts with exactly the input', async () => {
    const body = '{"workflowName":"messages","input":9007199254740993,"args":[1,null]}'
    if (await isLacking('update-with-start/echo', body)) return

    const { status, body: answered } = await post('update-with-start/echo', body)

    expect([status, answered.started, answered.result]).toEqual([200, true, [1, null]])
    await post(`${answered.workflowId}/terminate`)
    expect((await api().service.get(`${answered.workflowId}/result`)).text).toContain('"input":9007199254740993')
  })

  test('update-with-start: startArgs are the arguments of the start, several or none', async () => {
    const several = { workflowName: 'messages', startArgs: [1, [2]], args: [3, 4] }
    if (await isLacking('update-with-start/echo', several)) return

    const runs = [several, { ...several, startArgs: [], args: [] }, { ...several, startArgs: [5], args: undefined }]
    const answers = await Promise.all(runs.map((body) => post('update-with-start/echo', body)))

    expect(answers.map(({ status, body }) => [status, body.result])).toEqual([
      [200, [3, 4]],
      [200, []],
      [200, []],
    ])
    const inputs = answers.map(({ body }) => api().service.get(`${body.workflowId}/input`))
    expect((await Promise.all(inputs)).map(({ body }) => body.args)).toEqual([[1, [2]], [], [5]])
    await Promise.all(answers.map(({ body }) => post(`${body.workflowId}/terminate`)))
  })

  test('update-with-start: a request that start rejects is rejected, and nothing is started', async () => {
    const workflowId = anId()
    if (await isLacking('update-with-start/set', { ...MESSAGES, workflowId })) return

    const unknown = await post('update-with-start/set', { workflowName: 'nope', input: null, workflowId })
    const invalid = await post('update-with-start/set', { workflowName: 'sleepFor', input: { ms: 'x' }, workflowId })
    const neither = await post('update-with-start/set', { workflowName: 'messages', workflowId, args: [1] })
    const both = await post('update-with-start/set', { ...MESSAGES, workflowId, startArgs: [1] })
    const nowhere = await post('update-with-start/set', { ...MESSAGES, workflowId, catalog: `nobody-${anId()}` })

    expect([unknown.status, unknown.body.error]).toEqual([424, 'UnsupportedWorkflowError'])
    const facts = [invalid.status, invalid.body.error, invalid.body.issues[0].path]
    expect(facts).toEqual([400, 'ValidationError', '/input/ms'])
    expect([neither, both].map(({ status, body }) => [status, body.message])).toEqual([
      [400, expect.stringMatching(/input.*startArgs/)],
      [400, expect.stringMatching(/input.*startArgs/)],
    ])
    expect([nowhere.status, nowhere.body.error]).toEqual([503, 'CatalogNotAvailableError'])
    expect((await api().service.get(`${workflowId}/status`)).status).toBe(404)
  })

  test('update-with-start: an alias starts the workflow that it is one of', async () => {
    const body = { workflowName: 'nap', input: { ms: 60_000 } }
    if (await isLacking('update-with-start/nope', body)) return

    const { status, body: rejected } = await post('update-with-start/nope', body)

    expect([status, rejected.error, rejected.available]).toEqual([404, 'HandlerNotFoundError', []])
    const { body: run } = await api().service.get(`${rejected.workflowId}/status`)
    expect([run.workflowName, run.runId, run.status]).toEqual(['sleepFor', rejected.runId, 'running'])
    await post(`${rejected.workflowId}/terminate`)
  })

  test('update-with-start: an update that the workflow rejects names the run, which keeps running', async () => {
    const body = { ...MESSAGES, payload: -1 }
    if (await isLacking('update-with-start/validated', body)) return

    const { status, body: rejected } = await post('update-with-start/validated', body)

    expect([status, rejected.error, rejected.source]).toEqual([422, 'UpdateFailedError', 'workflow'])
    expect(rejected).toMatchObject({
      workflowId: expect.any(String),
      runId: expect.any(String),
      updateId: expect.any(String),
    })
    const { body: run } = await api().service.get(`${rejected.workflowId}/runs/${rejected.runId}/status`)
    expect(run.status).toBe('running')
    await post(`${rejected.workflowId}/terminate`)
  })

  test('update-with-start: a timeout names the started run and has no Retry-After', async () => {
    const workflowId = anId()
    const body = { ...MESSAGES, workflowId, payload: 600_000 }
    if (await isLacking('update-with-start/wait', body)) return

    const { status, headers, body: late } = await post('update-with-start/wait', body, 'restrictedService')

    const { body: run } = await api().service.get(`${workflowId}/status`)
    const facts = [status, late.error, late.workflowId, late.runId]
    expect(facts).toEqual([424, 'OutcomeUnknownError', workflowId, run.runId])
    expect([late.updateId, headers.get('Retry-After')]).toEqual([expect.stringMatching(/./), null])
    await post(`${workflowId}/terminate`)
  })

  test('update-with-start: where it is not supported, neither catalog nor engine is called', async () => {
    const { serviceWithoutEngine, hasGap } = api()

    const { status, body } = await serviceWithoutEngine.post('update-with-start/set', MESSAGES)

    expect([status, body.error]).toEqual(
      hasGap('update-with-start') ? [501, 'NotSupportedError'] : [503, 'EngineUnavailableError'],
    )
  })
}
