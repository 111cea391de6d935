import { expect, test } from 'vitest'
import { rule } from '../../support/rules.ts'
import { type ApiFixture, anId, untilStatus } from './api-fixture.ts'

/** POST /workflow/run, from the request's side. */
export function run(api: () => ApiFixture): void {
  rule('run.blocks-until-end', async () => {
    const { status, body } = await api().service.run('sleepFor', { ms: 500 })

    expect([status, body.status, body.output]).toEqual([200, 'completed', 'slept'])
  })

  rule('run.workflowName-is-required', async () => {
    const missing = await api().service.post('run', { input: null })
    const empty = await api().service.run('')

    const facts = [missing.status, missing.body.error, missing.body.issues]
    expect(facts).toEqual([400, 'ValidationError', [{ path: '/workflowName', message: 'is required' }]])
    expect([empty.status, empty.body.issues[0].path]).toEqual([400, '/workflowName'])
  })

  rule('run.input-is-required', async () => {
    const { status, body } = await api().service.post('run', { workflowName: 'echo' })

    const facts = [status, body.error, body.issues]
    expect(facts).toEqual([400, 'ValidationError', [{ path: '', message: expect.stringMatching(/input.*args/) }]])
  })

  rule('run.input-is-any-json', async () => {
    const inputs = [null, '', 'text', 0, -1.5, true, [], [1, [2]], {}, { a: { b: [null] }, ä: '🚪' }]

    const answers = await Promise.all(inputs.map((input) => api().service.run('echo', input)))

    expect(answers.map(({ body }) => body.output)).toEqual(inputs)
    expect(answers.map(({ body }) => body.input)).toEqual(inputs)
  })

  rule('run.workflowId-is-used', async () => {
    const workflowId = anId()

    const { body } = await api().service.run('whoAmI', null, { workflowId })

    expect([body.workflowId, body.output.workflowId]).toEqual([workflowId, workflowId])
    expect(body.output.runId).toBe(body.runId)
  })

  rule('run.workflowId-is-unique', async () => {
    const { service } = api()
    const workflowId = anId()
    const first = await service.start('neverEnds', null, { workflowId })

    const second = await service.run('echo', null, { workflowId })

    expect([second.status, second.body]).toEqual([
      409,
      expect.objectContaining({
        error: 'WorkflowAlreadyStartedError',
        workflowId,
        runId: first.body.runId,
        source: 'engine',
      }),
    ])
    await service.post(`${workflowId}/terminate`)
  })

  test('run: a workflowId whose run is closed can be used again', async () => {
    const workflowId = anId()
    const request = { workflowName: 'echo', input: 1, workflowId }

    const first = await api().service.post('run', request)
    const second = await api().service.post('run', request)

    expect([first.status, second.status]).toEqual([200, 200])
    expect(second.body.runId).not.toBe(first.body.runId)
  })

  test('run: generated ids are safe in a URL and sort by time', async () => {
    const ids: string[] = []
    for (let nth = 0; nth < 3; nth++) {
      ids.push((await api().service.run('nothing')).body.workflowId)
    }

    expect(ids.every((id) => /^[\w.~-]+$/.test(id))).toBe(true)
    expect(ids.toSorted()).toEqual(ids)
  })

  rule('run.default-catalog', async () => {
    const { body } = await api().service.run('whoAmI')

    expect(body.output.taskQueue).toBe(api().catalog)
  })

  rule('run.catalog-routes', async () => {
    const { service, plainTaskQueue } = api()

    const { body, headers } = await service.run('whoAmI', null, { catalog: plainTaskQueue })

    expect(body.output.taskQueue).toBe(plainTaskQueue)
    expect(headers.has('Deprecation')).toBe(false)
  })

  rule('run.taskQueue-is-a-deprecated-alias', async () => {
    const { service, plainTaskQueue } = api()

    const { body, headers } = await service.run('whoAmI', null, { taskQueue: plainTaskQueue })

    expect(body.output.taskQueue).toBe(plainTaskQueue)
    expect(headers.get('Deprecation')).toMatch(/^@\d+$/)
    expect(headers.get('Link')).toMatch(/rel="deprecation"/)
  })

  rule('run.catalog-wins-over-taskQueue', async () => {
    const { service, plainTaskQueue, catalog } = api()

    const { body } = await service.run('whoAmI', null, { catalog, taskQueue: plainTaskQueue })

    expect(body.output.taskQueue).toBe(catalog)
  })

  rule('run.timeout-bounds-the-wait', async () => {
    const { service } = api()
    const workflowId = anId()

    const answer = await service.run('waitForSignal', null, { workflowId, timeout: 300 })

    expect([answer.status, answer.body]).toEqual([
      424,
      expect.objectContaining({
        error: 'WorkflowExecutionTimedOutError',
        workflowId,
        workflowStatus: 'running',
        source: 'gateway',
      }),
    ])
    expect([answer.headers.get('Location'), answer.headers.has('Retry-After')]).toEqual([
      `/workflow/${workflowId}/result`,
      false,
    ])
    const goesOn = await service.get(`${workflowId}/runs/${answer.body.runId}/status`)
    expect(goesOn.body.status).toBe('running')
    await service.post(`${workflowId}/terminate`)
  })

  rule(
    'run.timeout-defaults-to-30s',
    async () => {
      const { status, body } = await api().service.run('neverEnds')

      expect([status, body.error]).toEqual([424, 'WorkflowExecutionTimedOutError'])
      expect(body.message).toContain('did not complete within 30000 ms')
      await api().service.post(`${body.workflowId}/terminate`)
    },
    60_000,
  )

  test('run: the timeout may be a duration with its unit, and the 424 names it in milliseconds', async () => {
    const { service } = api()

    const { status, body } = await service.run('neverEnds', null, { timeout: '0.2s' })

    expect(status).toBe(424)
    expect(body.message).toContain('did not complete within 200 ms')
    await service.post(`${body.workflowId}/terminate`)
  })

  test('run: numbers leave as exactly as they came, in both directions', async () => {
    const sent = '{"workflowName":"nothing","input":{"id":9007199254740993,"price":0.12345678901234567890,"far":1e400}}'

    const given = await api().service.post('run', sent)
    const made = await api().service.run('hugeNumbers')

    expect(given.text).toContain('"input":{"id":9007199254740993,"price":0.12345678901234567890,"far":1e400}')
    expect(made.text).toContain('"output":{"id":9007199254740993,"price":0.12345678901234567890,"plain":1.5}')
  })

  test('run: a key called __proto__ is a key like any other', async () => {
    const { text } = await api().service.post('run', '{"workflowName":"echo","input":{"__proto__":{"a":1},"b":2}}')

    expect(text).toContain('"input":{"__proto__":{"a":1},"b":2},"output":{"__proto__":{"a":1},"b":2}')
  })

  test('run: an alias runs the workflow it stands for', async () => {
    const { service } = api()

    const { body } = await service.run('parrot', 'hi')
    const { body: status } = await service.get(`${body.workflowId}/status`)

    expect([body.output, status.workflowName]).toEqual(['hi', 'echo'])
  })

  test('run: many at once each get their own answer', async () => {
    const numbers = Array.from({ length: 40 }, (_, number) => number)

    const answers = await Promise.all(numbers.map((input) => api().service.run('echo', input)))

    expect(answers.map(({ body }) => body.output)).toEqual(numbers)
    expect(new Set(answers.map(({ body }) => body.runId)).size).toBe(40)
  })

  test('run: a client that goes away leaves the workflow alone', async () => {
    const { service } = api()
    const workflowId = anId()
    const client = new AbortController()

    const answer = service.post('run', { workflowName: 'waitForSignal', input: null, workflowId }, {}, client.signal)
    const gone = expect(answer).rejects.toThrow(/abort/i)
    await untilStatus(api(), workflowId, 'running', { events: 4 })
    client.abort()
    await gone

    await service.post(`${workflowId}/signal/finish`, { payload: 'still here' })
    await untilStatus(api(), workflowId, 'completed')
    expect((await service.get(`${workflowId}/result`)).body.output).toEqual(['still here'])
  })

  test('run: a workflow of a worker without a catalog is waited for as any other', async () => {
    const { service, plainTaskQueue } = api()

    const { status, body } = await service.run('everyKind', { a: 1 }, { catalog: plainTaskQueue })

    expect([status, body.status, body.input, body.output]).toEqual([200, 'completed', { a: 1 }, { a: 1 }])
  })

  test('run: follows continue-as-new, and speaks of the last run alone', async () => {
    const { service } = api()

    const { body } = await service.run('chain', { links: 3 })

    expect([body.status, body.input, body.output]).toEqual(['completed', { links: 3, link: 3 }, { links: 3, link: 3 }])
    const { body: last } = await service.get(`${body.workflowId}/status`)
    expect(last.runId).toBe(body.runId)
  })

  test('run: a timeout in the middle of a chain names the current run', async () => {
    const { service } = api()
    const status = (workflowId: string) => service.get(`${workflowId}/status`)

    /** Null if the time was over before the chain continued, on a slow machine. */
    async function timedOut(timeout: number) {
      const workflowId = anId()
      let isOver = false
      const running = service.run('chainOnSignal', 1, { workflowId, timeout }).finally(() => {
        isOver = true
      })
      await untilStatus(api(), workflowId, 'running', { events: 4 })
      const { body: before } = await status(workflowId)
      await service.post(`${workflowId}/signal/next`)
      await untilStatus(api(), workflowId, 'continued', { runId: before.runId })
      const isInTime = !isOver
      const answer = await running
      const { body: now } = await status(workflowId)
      await service.post(`${workflowId}/terminate`)
      return isInTime ? { answer, before, now } : null
    }

    const seen = (await timedOut(5000)) ?? (await timedOut(20_000)) ?? (await timedOut(60_000))

    expect([seen?.answer.status, seen?.answer.body.runId]).toEqual([424, seen?.now.runId])
    expect(seen?.now.runId).not.toBe(seen?.before.runId)
  })
}
