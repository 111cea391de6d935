import { expect, test } from 'vitest'
import { type ApiFixture, anId } from './api-fixture.ts'

/** The options of `run`, `start` and `update-with-start`, and the headers of messages. */
export function startOptions(api: () => ApiFixture): void {
  const post = (path: string, body: object, headers: Record<string, string> = {}) =>
    api().service.post(path, body, headers)

  /** What the engine has recorded about the start of the run. */
  async function recorded(workflowId: string) {
    const { events = [] } = await api().client.workflow.getHandle(workflowId).fetchHistory()
    const [event] = events ?? []
    const attributes = event?.workflowExecutionStartedEventAttributes
    const json = (fields: object | null | undefined) =>
      Object.fromEntries(
        Object.entries(fields ?? {}).map(([key, { data }]) => [key, JSON.parse(new TextDecoder().decode(data))]),
      )
    return { attributes, memo: json(attributes?.memo?.fields), headers: json(attributes?.header?.fields) }
  }

  test('start options: reach the engine, with the trace context of the request', async () => {
    const workflowId = anId()
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const body = {
      workflowName: 'echo',
      input: 1,
      workflowId,
      memo: { order: 17 },
      headers: { tenant: ['a'] },
      runTimeout: '90s',
      taskTimeout: 5000,
      retry: { initialInterval: '500ms', maximumAttempts: 2 },
      priority: { priorityKey: 2 },
    }

    const { status, body: result } = await post('run', body, { traceparent, tracestate: 'a=b' })

    const { attributes, memo, headers } = await recorded(workflowId)
    expect([status, result.output]).toEqual([200, 1])
    expect(memo).toEqual({ order: 17 })
    expect(headers).toEqual({ tenant: ['a'], '_tracer-data': { traceparent, tracestate: 'a=b' } })
    expect(Number(attributes?.workflowRunTimeout?.seconds)).toBe(90)
    expect(Number(attributes?.workflowTaskTimeout?.seconds)).toBe(5)
    expect(attributes?.retryPolicy?.maximumAttempts).toBe(2)
    expect(attributes?.priority?.priorityKey).toBe(2)
  })

  test('start options: with use-existing the response says whether the run was started, and run is about that run', async () => {
    const workflowId = anId()
    const body = { workflowName: 'waitForSignal', input: 'first', workflowId }
    const useExisting = { ...body, input: 'ignored', workflowIdConflictPolicy: 'use-existing' }

    const first = await post('start', { ...body, workflowIdConflictPolicy: 'use-existing' })
    const second = await post('start', useExisting)
    const waited = await post('run', { ...useExisting, timeout: 200 })
    await post(`${workflowId}/signal/finish`, { payload: 'done' })

    expect([first, second, waited].map(({ headers }) => headers.get('Portico-Started'))).toEqual([
      'true',
      'false',
      'false',
    ])
    expect(second.body).toEqual(first.body)
    expect([waited.status, waited.body.runId]).toEqual([424, first.body.runId])
  })

  test('start options: a run on a cron schedule does not end, so run responds with 424 and its ids', async () => {
    const workflowId = anId()
    const cronSchedule = '@every 1h'

    const { status, body } = await post('run', {
      workflowName: 'echo',
      input: 1,
      workflowId,
      cronSchedule,
      timeout: 200,
    })

    expect([status, body.error, body.workflowId]).toEqual([424, 'WorkflowExecutionTimedOutError', workflowId])
    expect((await recorded(workflowId)).attributes?.cronSchedule).toBe(cronSchedule)
    await post(`${workflowId}/terminate`, {})
  })

  test('start options: each invalid option is rejected with its pointer, and nothing starts', async () => {
    const workflowId = anId()
    const rejected: [path: string, options: object][] = [
      ['/memo/trace', { memo: { trace: { local: '/traces/one.json' } } }],
      ['/retry/attempts', { retry: { attempts: 1 } }],
      ['/priority/priorityKey', { priority: { priorityKey: 0 } }],
      ['/versioningOverride/pinned/buildId', { versioningOverride: { pinned: { deploymentName: 'a' } } }],
      ['/versioningOverride/pinned', { versioningOverride: { pinned: { deploymentName: 'a', buildId: 'no-such' } } }],
      ['/searchAttributes/Nope', { searchAttributes: { Nope: { type: 'int', value: 1 } } }],
      ['/searchAttributes/Nope', { searchAttributes: { OptionInt: 1, Nope: 1 } }],
      ['/searchAttributes/OptionInt', { searchAttributes: { OptionKeyword: 'x', OptionInt: 'x' } }],
      ['/cronSchedule', { cronSchedule: 'every day' }],
    ]

    const answers = await Promise.all(
      rejected.map(([, options]) => post('start', { workflowName: 'echo', input: 1, workflowId, ...options })),
    )

    expect(answers.map(({ status, body }) => [status, body.issues?.[0]?.path])).toEqual(
      rejected.map(([path]) => [400, path]),
    )
    expect((await api().service.get(`${workflowId}/status`)).status).toBe(404)
  })

  test('start options: a search attribute that is a value alone has its registered type for the worker', async () => {
    const plain = { OptionKeyword: 'gold', OptionInt: 17, OptionBool: true, OptionKeywordList: ['a', 'b'] }
    const searchAttributes = { ...plain, OptionDouble: { type: 'double', value: 17 } }

    const { status, body } = await post('run', { workflowName: 'ownAttributes', args: [], searchAttributes })
    const wrong = await post('validate', { workflowName: 'ownAttributes', args: [], searchAttributes: { A: null } })

    expect([status, body.output]).toEqual([
      200,
      {
        OptionKeyword: { type: 'KEYWORD', value: 'gold' },
        OptionInt: { type: 'INT', value: 17 },
        OptionBool: { type: 'BOOL', value: true },
        OptionKeywordList: { type: 'KEYWORD_LIST', value: ['a', 'b'] },
        OptionDouble: { type: 'DOUBLE', value: 17 },
      },
    ])
    expect([wrong.status, wrong.body.issues[0].path]).toEqual([400, '/searchAttributes/A'])
  })

  test('signal-with-start, update-with-start: a search attribute may be a value alone, and an error names the wrong one', async () => {
    const body = { workflowName: 'messages', args: ['x'], input: null }
    const send = (verb: string, workflowId: string, value: unknown) =>
      post(`${verb}-with-start/${verb === 'signal' ? 'add' : 'set'}`, {
        ...body,
        workflowId,
        searchAttributes: { OptionBool: true, OptionInt: value },
      })
    const verbs = api().hasGap('update-with-start') ? ['signal'] : ['signal', 'update']

    for (const verb of verbs) {
      const workflowId = anId()
      const wrong = await send(verb, workflowId, 'x')
      const right = await send(verb, workflowId, 5)
      await post(`${workflowId}/terminate`, {})

      expect([wrong.status, wrong.body.issues?.[0]]).toEqual([
        400,
        { path: '/searchAttributes/OptionInt', message: 'does not have the registered type of the attribute, int' },
      ])
      expect([right.status, right.body.started]).toEqual([200, true])
    }
  })

  test('update-with-start: takes the options of a start, without those that would delay it', async () => {
    const workflowId = anId()
    const body = { workflowName: 'messages', input: null, workflowId, args: ['x'], memo: { order: 17 } }

    const delayed = await post('update-with-start/set', { ...body, startDelay: '1s' })
    const { status } = await post('update-with-start/set', body)
    const again = await post('update-with-start/set', { ...body, workflowIdConflictPolicy: 'fail' })

    expect([delayed.status, delayed.body.issues[0].path]).toEqual([400, '/startDelay'])
    if (api().hasGap('update-with-start')) return expect(status).toBe(501)
    expect([status, again.status, again.body.error]).toEqual([200, 409, 'WorkflowAlreadyStartedError'])
    expect((await recorded(workflowId)).memo).toEqual({ order: 17 })
    await post(`${workflowId}/terminate`, {})
  })

  test('SERVICE_FORWARD_HEADERS: workers receive these headers of a request', async () => {
    const { restrictedService } = api()
    const body = { workflowName: 'echo', input: 1, workflowId: anId() }

    await restrictedService.post('run', body, { 'X-Tenant': 'acme', 'X-Other': 'no' })

    expect((await recorded(body.workflowId)).headers).toEqual({ 'x-tenant': 'acme' })
  })
}
