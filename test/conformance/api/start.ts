import { expect, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { rule } from '../../support/rules.ts'
import { type ApiFixture, anId, untilStatus } from './api-fixture.ts'

/** POST /workflow/start. */
export function start(api: () => ApiFixture): void {
  rule('start.returns-the-id-at-once', async () => {
    const { service } = api()

    const { status, body, headers } = await service.start('waitForSignal')

    expect([status, body]).toEqual([
      200,
      { workflowId: expect.any(String), runId: expect.any(String), status: 'running' },
    ])
    expect(headers.get('Location')).toBe(`/workflow/${body.workflowId}/result`)
    await service.post(`${body.workflowId}/signal/finish`, { payload: 'later' })
    await untilStatus(api(), body.workflowId, 'completed')
    expect((await service.get(`${body.workflowId}/result`)).body.output).toEqual(['later'])
  })

  rule('start.takes-name-and-input', async () => {
    const { service } = api()

    const started = await service.start('echo', { a: 1 })
    const nameless = await service.post('start', { input: { a: 1 } })

    await untilStatus(api(), started.body.workflowId, 'completed')
    expect((await service.get(`${started.body.workflowId}/result`)).body.input).toEqual({ a: 1 })
    expect([nameless.status, nameless.body.error]).toEqual([400, 'ValidationError'])
  })

  test('run and start: each element of args is one argument, and [] starts without arguments', async () => {
    const { service } = api()
    const run = (args: unknown[]) => service.post('run', { workflowName: 'several', args })

    const [several, one, none] = await Promise.all([run(['Alice', null, ['Bob']]), run([['Alice', 'Bob']]), run([])])
    const started = await service.post('start', { workflowName: 'several', args: [1, 2] })

    expect([several, one, none].map(({ status, body }) => [status, body.output, body.input])).toEqual([
      [200, ['Alice', null, ['Bob']], ['Alice', null, ['Bob']]],
      [200, [['Alice', 'Bob']], ['Alice', 'Bob']],
      [200, [], null],
    ])
    await untilStatus(api(), started.body.workflowId, 'completed')
    const results = [several, one, none, started].map(({ body }) => service.get(`${body.workflowId}/result`))
    const inputs = (await Promise.all(results)).map(({ body }) => body.input)
    expect(inputs).toEqual([['Alice', null, ['Bob']], ['Alice', 'Bob'], null, [1, 2]])
  })

  test('start: a missing parameter has its default; null does not select the default', async () => {
    const { service } = api()

    const { body } = await service.post('start', { workflowName: 'cleansUp', args: [] })

    await untilStatus(api(), body.workflowId, 'running', { events: 4 })
    expect((await service.post(`${body.workflowId}/query/state`)).body).toBe('working')
    await service.post(`${body.workflowId}/terminate`)
  })

  test('run and start: the published schema applies to the first argument; without a schema nothing is validated', async () => {
    const { service } = api()
    const send = (verb: string, args: unknown[]) => service.post(verb, { workflowName: 'sleepFor', args })

    const rejected = await Promise.all(['run', 'start'].map((verb) => send(verb, [{ ms: 'x' }, 1])))
    const taken = await send('run', [{ ms: 0 }, 'more'])
    const without = await send('start', [])
    const unchecked = await service.run('echo', 7)

    expect([...rejected, without].map(({ status, body }) => [status, body.issues[0].path])).toEqual([
      [400, '/args/0/ms'],
      [400, '/args/0/ms'],
      [400, '/input'],
    ])
    expect([taken.body.status, unchecked.body.output]).toEqual(['completed', 7])
  })

  test('start: catalog takes precedence over taskQueue, which is reported as deprecated', async () => {
    const { service, catalog, plainTaskQueue } = api()

    const { body, headers } = await service.start('nothing', 1, { catalog, taskQueue: plainTaskQueue })

    expect(headers.get('Deprecation')).toMatch(/^@\d+$/)
    expect((await service.get(`${body.workflowId}/status`)).body.catalog).toBe(catalog)
  })

  test('start: an id in use is rejected, and the error names its run', async () => {
    const { service } = api()
    const request = { workflowName: 'neverEnds', input: null, workflowId: anId() }

    const first = await service.post('start', request)
    const second = await service.post('start', request)

    const facts = [second.status, second.body.error, second.body.runId]
    expect(facts).toEqual([409, 'WorkflowAlreadyStartedError', first.body.runId])
    await service.post(`${request.workflowId}/terminate`)
  })

  test('start: of twenty starts with one id exactly one succeeds', async () => {
    const { service } = api()
    const request = { workflowName: 'neverEnds', input: null, workflowId: anId() }

    const untilDecided = () =>
      until('the engine has decided', async () => {
        const answer = await service.post('start', request)
        // An engine whose lock on the id others hold for too long rejects a start.
        return [429, 503].includes(answer.status) ? null : answer
      })
    const answers = await Promise.all(Array.from({ length: 20 }, untilDecided))

    const [started] = answers.filter(({ status }) => status === 200)
    const rejected = answers.filter(({ status }) => status === 409)
    expect([rejected.length, new Set(rejected.map(({ body }) => body.runId))]).toEqual([
      19,
      new Set([started?.body.runId]),
    ])
    await service.post(`${request.workflowId}/terminate`)
  })

  test('start: checks the timeout that it has no use for', async () => {
    const { service } = api()

    const right = await service.start('nothing', null, { timeout: '30s' })
    const wrong = await service.start('nothing', null, { timeout: -1 })

    expect([right.status, wrong.status, wrong.body.issues[0].path]).toEqual([200, 400, '/timeout'])
  })

  test('start: ids may hold slashes, spaces, letters of any script, and 1000 bytes', async () => {
    const { service, hasGap } = api()
    const long = `${anId()}${'ü'.repeat(500)}`
    const bytes = Buffer.from(long).subarray(0, 1000).toString().replace('\ufffd', 'x')
    const slashed = `${anId()}/a b?c#d%e/🚪`
    const odd = hasGap('slashes') ? slashed.replaceAll('/', '\\') : slashed
    for (const workflowId of [odd, `${anId()}..`, bytes]) {
      const { status, body, headers } = await service.start('nothing', null, { workflowId })
      const path = `/workflow/${encodeURIComponent(workflowId)}`

      expect([status, body.workflowId, headers.get('Location')]).toEqual([200, workflowId, `${path}/result`])
      expect((await service.call('GET', `${path}/status`)).body.workflowId).toBe(workflowId)
      expect((await service.call('GET', `${path}/runs/${body.runId}/status`)).body.workflowId).toBe(workflowId)
    }
  })

  test('start: an id with a slash is rejected if the transport does not support it, and the error names the transport', async () => {
    const { service, hasGap } = api()
    const workflowId = `${anId()}/a`

    const start = await service.start('nothing', null, { workflowId })
    const status = await service.get(`${encodeURIComponent(workflowId)}/status`)

    if (!hasGap('slashes')) return expect([start.status, status.status]).toEqual([200, 200])
    const facts = [start.status, start.body.error, status.status, status.body.error]
    expect(facts).toEqual([501, 'NotSupportedError', 501, 'NotSupportedError'])
    expect(start.body.message).toContain('HTTP API')
  })
}
