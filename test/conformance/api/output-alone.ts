import { expect, test } from 'vitest'
import { type ApiFixture, anId } from './api-fixture.ts'

/** `?body=output` on `run` and `result`. */
export function outputAlone(api: () => ApiFixture): void {
  const run = (body: object, headers?: Record<string, string>) =>
    api().service.post('run?body=output', { args: [], ...body }, headers)
  const get = (path: string, headers?: Record<string, string>) => api().service.get(path, headers)

  test('body=output: run and result respond with the output alone, exact numbers included, and the ids in headers', async () => {
    const workflowId = `${anId()} ü`

    const ran = await run({ workflowName: 'hugeNumbers', workflowId })
    const runId = ran.headers.get('Portico-Run-Id')
    const path = encodeURIComponent(workflowId)
    const read = await get(`${path}/runs/${runId}/result?body=output`)
    const waited = await get(`${path}/result?body=output&wait=1`)

    const whole = await get(`${path}/result`)
    expect(whole.body).toMatchObject({ workflowId, runId, status: 'completed' })
    for (const { status, text, headers } of [ran, read, waited]) {
      expect([status, headers.get('Portico-Workflow-Id')]).toEqual([200, path])
      expect(text).toContain('9007199254740993')
      expect(whole.text).toContain(text)
    }
  })

  test('body=output: a workflow that returned nothing has the body null', async () => {
    const { status, text } = await run({ workflowName: 'nothing' })

    expect([status, text]).toEqual([200, 'null'])
  })

  test('body=output: a failed workflow is a 422 with its failure and its ids, also when the request is repeated', async () => {
    const key = { 'Idempotency-Key': anId() }

    const first = await run({ workflowName: 'failInActivity' }, key)
    const again = await run({ workflowName: 'failInActivity' }, key)

    const { workflowId, runId } = first.body
    const { body: whole } = await get(`${workflowId}/result`)
    expect(whole.status).toBe('failed')
    for (const { status, body, headers } of [first, again]) {
      expect([status, headers.get('Portico-Error-Source')]).toEqual([422, 'workflow'])
      expect(body).toMatchObject({ error: 'WorkflowFailedError', workflowId, runId, workflowStatus: 'failed' })
      expect(body.errorDetails).toEqual(whole.errorDetails)
      expect(body.message).toBe(`Workflow ${workflowId} failed: ${whole.error}`)
    }
    expect([first, again].map(({ headers }) => headers.get('Idempotency-Replayed'))).toEqual(['false', 'true'])
  })

  test('body=output: a timeout and an open run are the same as without it', async () => {
    const timedOut = await run({ workflowName: 'neverEnds', timeout: 200 })
    const { workflowId } = timedOut.body
    const open = await get(`${workflowId}/result?body=output`)
    const accepted = await run({ workflowName: 'neverEnds' }, { Prefer: 'respond-async' })
    for (const id of [workflowId, accepted.body.workflowId]) await api().service.post(`${id}/terminate`)
    const terminated = await get(`${workflowId}/result?body=output`)

    expect([timedOut.status, open.status, accepted.status]).toEqual([424, 424, 202])
    expect([terminated.status, terminated.body.workflowStatus]).toEqual([422, 'terminated'])
  })

  test('body=output: a pinned run that continued has no output', async () => {
    const { body: first } = await api().service.start('chain', { links: 2 })

    const last = await get(`${first.workflowId}/result?body=output&wait=60s`)
    const continued = await get(`${first.workflowId}/runs/${first.runId}/result?body=output`)

    expect([last.status, last.body]).toEqual([200, { links: 2, link: 2 }])
    const facts = [continued.status, continued.body.workflowStatus, continued.body.errorDetails]
    expect(facts).toEqual([422, 'continued', undefined])
  })

  test('body=output: with an event stream nothing starts', async () => {
    const workflowId = anId()

    const { status, body } = await run({ workflowName: 'nothing', workflowId }, { Accept: 'text/event-stream' })

    expect([status, body.issues[0].path]).toEqual([400, '/body'])
    expect((await get(`${workflowId}/status`)).status).toBe(404)
  })
}
