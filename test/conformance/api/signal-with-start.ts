import { expect, test } from 'vitest'
import { type ApiFixture, anId, untilStatus } from './api-fixture.ts'

/** POST /workflow/signal-with-start/:name. */
export function signalWithStart(api: () => ApiFixture): void {
  const post = (name: string, body: unknown) => api().service.post(`signal-with-start/${name}`, body)
  const result = (workflowId: string) => api().service.get(`${workflowId}/result`)

  test('signal-with-start: starts the run with the signal; the next request finds it', async () => {
    const workflowId = anId()
    const body = { workflowName: 'parrot', input: null, workflowId, memo: { a: 1 } }

    const first = await post('add', { ...body, workflowName: 'messages', payload: 'new' })
    const second = await post('finish', { ...body, workflowIdConflictPolicy: 'use-existing' })

    const { runId } = first.body
    expect([first.status, first.headers.get('Location')]).toEqual([200, `/workflow/${workflowId}/result`])
    const facts = [first.body, second.status, second.body]
    expect(facts).toEqual([{ workflowId, runId, started: true }, 200, { workflowId, runId, started: false }])
    await untilStatus(api(), workflowId, 'completed')
    expect((await result(workflowId)).body.output.gathered).toEqual(['new'])
  })

  test('signal-with-start: makes an id; startArgs are those of the start, and args those of the signal', async () => {
    const body = '{"workflowName":"waitForSignal","startArgs":[9007199254740993],"args":[1,null]}'

    const { status, body: run } = await post('finish', body)
    const { body: neither } = await post('finish', { workflowName: 'waitForSignal', startArgs: [] })

    expect([status, run.started]).toEqual([200, true])
    await untilStatus(api(), run.workflowId, 'completed')
    const { body: ended, text } = await result(run.workflowId)
    expect([ended.output, text.includes('"input":9007199254740993')]).toEqual([[1, null], true])
    await untilStatus(api(), neither.workflowId, 'completed')
    expect((await result(neither.workflowId)).body).toMatchObject({ input: null, output: [] })
  })

  test('signal-with-start: a request that start rejects is rejected, and nothing is started', async () => {
    const workflowId = anId()
    const body = { workflowName: 'messages', input: null, workflowId }

    const rejected = await Promise.all([
      post('add', { ...body, workflowName: 'nope' }),
      post('add', { ...body, workflowName: 'sleepFor', input: { ms: 'x' } }),
      post('add', { ...body, startArgs: [1] }),
      post('add', { ...body, workflowIdConflictPolicy: 'terminate-existing' }),
      post('add', { ...body, workflowIdConflictPolicy: 'fail' }),
      post('add', { ...body, catalog: `nobody-${anId()}` }),
    ])

    expect(rejected.map(({ status, body: { error, issues } }) => [status, error, issues?.[0].path])).toEqual([
      [424, 'UnsupportedWorkflowError', undefined],
      [400, 'ValidationError', '/input/ms'],
      [400, 'ValidationError', ''],
      [400, 'ValidationError', '/workflowIdConflictPolicy'],
      [400, 'ValidationError', '/workflowIdConflictPolicy'],
      [503, 'CatalogNotAvailableError', undefined],
    ])
    expect((await api().service.get(`${workflowId}/status`)).status).toBe(404)
  })
}
