import { expect, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import type { Answer } from '../../support/api.ts'
import { eventsIn, openEvents } from '../../support/event-stream.ts'
import { type ApiFixture, AUTHORIZED, anId, startDirectly, untilStatus } from './api-fixture.ts'

const EVENTS = { Accept: 'text/event-stream' }

/** Waiting for runs that exist already: GET result with `wait` and as events, `Prefer`, `Last-Event-ID`. */
export function waiting(api: () => ApiFixture): void {
  const get = (path: string, headers?: Record<string, string>): Promise<Answer> => api().service.get(path, headers)
  const run = (body: object, headers: Record<string, string>): Promise<Answer> =>
    api().service.post('run', { input: null, ...body }, headers)
  const signal = (workflowId: string, name = 'finish'): Promise<Answer> =>
    api().service.post(`${workflowId}/signal/${name}`, { payload: 'done' })
  const terminate = (workflowId: string) => api().service.post(`${workflowId}/terminate`)

  async function startWaiting(): Promise<{ workflowId: string; runId: string }> {
    const { body } = await api().service.start('waitForSignal')
    return body
  }

  test('result: with wait it comes as soon as the run has ended, the same as without', async () => {
    const { workflowId, runId } = await startWaiting()
    const latest = get(`${workflowId}/result?wait=60s`)
    const pinned = get(`${workflowId}/runs/${runId.toUpperCase()}/result?wait=60000`)

    await signal(workflowId)
    const answers = await Promise.all([latest, pinned, get(`${workflowId}/result?wait=60s`)])

    const { body } = await get(`${workflowId}/result`)
    expect(body).toMatchObject({ workflowId, runId, status: 'completed', output: ['done'] })
    expect(answers.map((answer) => [answer.status, answer.body])).toEqual(answers.map(() => [200, body]))
  })

  test('result: with wait it is 424 while the run is open, and may be requested again', async () => {
    const { workflowId, runId } = await startWaiting()
    const paths = [`${workflowId}/result`, `${workflowId}/runs/${runId}/result`]

    const answers = await Promise.all(paths.map((path) => get(`${path}?wait=200`)))

    expect(answers.map(({ status, body }) => [status, body])).toMatchObject(
      paths.map(() => [424, { error: 'WorkflowExecutionTimedOutError', workflowId, runId, workflowStatus: 'running' }]),
    )
    expect(answers.map(({ headers }) => [headers.get('Location'), headers.get('Retry-After')])).toEqual(
      paths.map((path) => [`/workflow/${path}`, '1']),
    )
    await terminate(workflowId)
  })

  test('result: with wait it is that of the end of the chain; of a pinned run it is that run’s', async () => {
    const { workflowId, firstExecutionRunId: runId } = await startDirectly(api(), 'chainOnSignal', { args: [1] })
    await untilStatus(api(), workflowId, 'running', { events: 4 })
    const latest = get(`${workflowId}/result?wait=90s`)
    const pinned = get(`${workflowId}/runs/${runId}/result?wait=90s`)
    const asked = await get(`${workflowId}/runs/${runId}/result?pending=202`)

    await signal(workflowId, 'next')
    await untilStatus(api(), workflowId, 'continued', { runId })
    await untilStatus(api(), workflowId, 'running', { events: 4 })
    await signal(workflowId)

    const continued = { runId, status: 'continued', input: 1, output: null }
    expect((await pinned).body).toMatchObject(continued)
    expect([asked.status, asked.body]).toEqual([202, { workflowId, runId, status: 'running' }])
    const again = await get(asked.headers.get('Location')?.replace('/workflow/', '') ?? '')
    expect([again.status, again.body]).toMatchObject([200, continued])
    const { body } = await latest
    expect(body).toMatchObject({ status: 'completed', input: 2, output: 2 })
    expect(body.runId).not.toBe(runId)
  })

  test('result: an invalid wait is 400, and a missing execution 404', async () => {
    const wrong = ['wait=', 'wait=soon', 'wait=25h', 'wait=-1', 'wait=1&wait=2', 'wait=1s&order=x']
    const { runId } = (await api().service.run('nothing')).body

    const answers = await Promise.all(wrong.map((parameters) => get(`x/result?${parameters}`)))
    const events = await get('x/result?wait=soon', EVENTS)
    const missing = await Promise.all(
      [`${anId()}/result`, `${anId()}/runs/${runId}/result`].flatMap((path) => [
        get(`${path}?wait=60s`),
        get(path, EVENTS),
      ]),
    )

    expect([...answers, events].map(({ status, body }) => [status, body.error])).toEqual(
      [...wrong, ''].map(() => [400, 'ValidationError']),
    )
    expect(missing.map(({ status, body }) => [status, body.error])).toEqual(
      missing.map(() => [404, 'WorkflowNotFoundError']),
    )
  })

  const open = (path: string, headers = {}) =>
    openEvents(`${api().service.url}/workflow/${path}`, { headers: { ...AUTHORIZED, ...EVENTS, ...headers } })

  test('result as events: the ids come first, then the result, after which nothing is left', async () => {
    const { workflowId, runId } = await startWaiting()
    const stream = await open(`${workflowId}/result`)
    const started = await stream.next('started')

    await signal(workflowId)
    const result = await stream.next('result')
    const { body } = await get(`${workflowId}/result`)
    const again = await get(`${workflowId}/result`, { ...EVENTS, 'Last-Event-ID': result.id ?? '' })

    expect([started, result]).toEqual([
      { id: `${workflowId}/${runId}`, event: 'started', data: { workflowId, runId } },
      { id: `${workflowId}/${runId}@end`, event: 'result', data: body },
    ])
    expect([again.status, again.text]).toEqual([204, ''])
  })

  test('result as events: ends after wait with the 424, and a client that reconnects waits on', async () => {
    const { workflowId } = await startWaiting()
    const { text } = await get(`${workflowId}/result?wait=300`, EVENTS)
    const [started, timeout] = eventsIn(text)

    const stream = await open(`${workflowId}/result`, { 'Last-Event-ID': timeout?.id })
    const attached = await stream.next('started')
    await signal(workflowId)
    const result = await stream.next('result')

    expect(timeout).toMatchObject({ id: started?.id, event: 'timeout', data: { status: 424 } })
    expect(text).toMatch(/^retry: \d+\n\n/)
    expect([attached, result.data.output]).toEqual([started, ['done']])
  })

  test('result as events: a client that reconnects attaches to the run that it has waited for, not to a later one', async () => {
    const workflowId = anId()
    await api().service.start('waitForSignal', null, { workflowId })
    const stream = await open(`${workflowId}/result`)
    const { id = '' } = await stream.next('started')
    stream.cut()
    await signal(workflowId)
    await untilStatus(api(), workflowId, 'completed')
    await api().service.start('neverEnds', null, { workflowId })

    const { text } = await get(`${workflowId}/result`, { ...EVENTS, 'Last-Event-ID': id })

    expect(eventsIn(text)).toMatchObject([
      { event: 'started', id },
      { event: 'result', data: { output: ['done'] } },
    ])
    await terminate(workflowId)
  })

  test('run as events: a client that reconnects attaches to its run, and starts none', async () => {
    const { service } = api()
    const body = { workflowName: 'waitForSignal', input: null }
    const post = (headers = {}) =>
      openEvents(`${service.url}/workflow/run`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...AUTHORIZED, ...EVENTS, ...headers },
        body: JSON.stringify(body),
      })
    const first = await post()
    const started = await first.next('started')
    first.cut()

    const second = await post({ 'Last-Event-ID': started.id })
    const attached = await second.next('started')
    second.cut()
    const json = run(body, { 'Last-Event-ID': started.id ?? '' })
    await signal(started.data.workflowId)
    const { status, body: result } = await json
    const end = await run(body, { ...EVENTS, 'Last-Event-ID': `${started.id}@end` })

    expect(attached).toEqual(started)
    expect([status, result.runId, result.output]).toEqual([200, started.data.runId, ['done']])
    expect(end.status).toBe(204)
  })

  test('run as events: attaches to the rest of the chain, whatever the workflow id contains', async () => {
    const workflowId = `${anId()} ü(1)@%`
    const { service } = api()
    const running = run({ workflowName: 'chain', input: { links: 3 }, workflowId, timeout: '90s' }, EVENTS)
    const [started, result] = eventsIn((await running).text)

    const { text } = await run({ workflowName: 'chain' }, { ...EVENTS, 'Last-Event-ID': started?.id ?? '' })
    const path = `/workflow/${encodeURIComponent(workflowId)}/result`
    const attached = await service.call('GET', path, undefined, { ...EVENTS, 'Last-Event-ID': started?.id ?? '' })

    expect(started?.id).toMatch(/^[\w.~%/-]+$/)
    expect(result?.data).toMatchObject({ workflowId, output: { links: 3, link: 3 } })
    expect([eventsIn(text), eventsIn(attached.text)]).toEqual([
      [started, result],
      [started, result],
    ])
  })

  test('Last-Event-ID: one that names no run is 404, and nothing is started', async () => {
    const workflowId = anId()
    const { body: ran } = await api().service.run('nothing')
    const ids = ['x', '7', `${workflowId}/${ran.runId}`, `%/${ran.runId}`, `$x/${ran.runId}`, `${ran.workflowId}/x`]
    const body = { workflowName: 'nothing', workflowId }

    const runs = ids.map((id) => run(body, { ...EVENTS, 'Last-Event-ID': id }))
    const results = ids.map((id) => get(`${workflowId}/result`, { ...EVENTS, 'Last-Event-ID': id }))
    const answers = await Promise.all([
      ...runs,
      ...results,
      // Of another workflow, and of another run.
      run(body, { 'Last-Event-ID': `${ran.workflowId}/${ran.runId}` }),
      get(`${ran.workflowId}/runs/${crypto.randomUUID()}/result`, {
        ...EVENTS,
        'Last-Event-ID': `${ran.workflowId}/${ran.runId}`,
      }),
    ])

    expect(answers.map(({ status, body: { error } }) => [status, error])).toEqual(
      answers.map(() => [404, 'WorkflowNotFoundError']),
    )
    expect((await get(`${workflowId}/status`)).status).toBe(404)
  })

  const facts = ({ status, headers, body }: Answer) => [
    status,
    headers.get('Preference-Applied'),
    headers.get('Location'),
    body,
  ]

  test('Prefer: respond-async responds right after the start, or after wait, with the ids', async () => {
    const ids = [anId(), anId()] as const
    const body = { workflowName: 'neverEnds' }

    const now = await run({ ...body, workflowId: ids[0] }, { Prefer: 'respond-async' })
    const later = await run({ ...body, workflowId: ids[1] }, { Prefer: 'handling="a, b", Respond-Async, wait=1' })

    expect([facts(now), facts(later)]).toEqual([
      [202, 'respond-async', `/workflow/${ids[0]}/result?pending=202`, accepted(ids[0])],
      [202, 'respond-async, wait=1', `/workflow/${ids[1]}/result?pending=202`, accepted(ids[1])],
    ])
    await Promise.all(ids.map(terminate))
  })

  function accepted(workflowId: string) {
    return { workflowId, runId: expect.stringMatching(/^[\da-f-]{36}$/), status: 'running' }
  }

  test('Prefer: a result that comes within wait is returned, and a shorter timeout counts', async () => {
    const done = await run({ workflowName: 'echo', input: 1 }, { Prefer: 'respond-async, wait=60' })
    const short = await run({ workflowName: 'neverEnds', timeout: 300 }, { Prefer: 'respond-async, wait=60' })

    expect([done.status, done.body.output]).toEqual([200, 1])
    expect(facts(short)).toEqual([
      202,
      'respond-async',
      `/workflow/${short.body.workflowId}/result?pending=202`,
      accepted(short.body.workflowId),
    ])
    await terminate(short.body.workflowId)
  })

  test('Prefer: a repeated run with the key of one that has ended returns its result', async () => {
    const body = { workflowName: 'echo', input: 1 }
    const headers = { Prefer: 'respond-async', 'Idempotency-Key': anId() }

    await run(body, headers)
    const repeated = await until('it has ended', async () => {
      const answer = await run(body, headers)
      return answer.status === 200 && answer
    })

    expect([repeated.body.output, repeated.headers.get('Idempotency-Replayed')]).toEqual([1, 'true'])
  })

  test('Prefer: without respond-async it has no effect, and errors before the start stay errors', async () => {
    const timedOut = await run({ workflowName: 'neverEnds', timeout: 300 }, { Prefer: 'wait=1' })
    const rejected = await run({}, { Prefer: 'respond-async' })

    expect([timedOut.status, timedOut.headers.get('Preference-Applied')]).toEqual([424, null])
    expect([rejected.status, rejected.body.error]).toEqual([400, 'ValidationError'])
    await terminate(timedOut.body.workflowId)
  })
}
