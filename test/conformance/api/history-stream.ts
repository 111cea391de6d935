import { expect, test } from 'vitest'
import { toTraceTree } from '../../../src/shared/wire/trace/tree.ts'
import { eventsIn, openEvents, type Sent } from '../../support/event-stream.ts'
import { type ApiFixture, AUTHORIZED, anId, startDirectly, startMessages, untilStatus } from './api-fixture.ts'

/** GET history/stream and GET trace-log/stream. */
export function historyStream(api: () => ApiFixture): void {
  const pathOf = (run: string, what = 'history') => `/workflow/${run}/${what}/stream`
  const open = (run: string, lastEventId?: string, what?: string) =>
    openEvents(`${api().service.url}${pathOf(run, what)}`, { headers: { ...AUTHORIZED, ...resume(lastEventId) } })

  /** All events of the stream, once it has ended. */
  async function readAll(run: string, lastEventId?: string, what?: string): Promise<Sent[]> {
    const { status, text } = await api().service.call('GET', pathOf(run, what), undefined, resume(lastEventId))
    expect(status).toBe(200)
    return eventsIn(text)
  }

  test('history stream: sends the run, its events and its end, of the latest and of a pinned run', async () => {
    const { body: ran } = await api().service.run('everyKind', { a: 1, token: 't' })
    const { body: page } = await api().service.get(`${ran.workflowId}/history`)

    const latest = await readAll(ran.workflowId)
    const pinned = await readAll(`${ran.workflowId}/runs/${ran.runId}`)

    expect(latest).toEqual([
      { event: 'workflow', data: page.workflow },
      ...page.events.map((data: { eventId: number }) => ({
        id: `${ran.runId}@${data.eventId}`,
        event: 'history',
        data,
      })),
      { event: 'done', data: page.workflow },
    ])
    expect(latest[1]?.data.input).toEqual([{ a: 1, token: '[redacted]' }])
    expect(pinned).toEqual(latest)
  })

  test('history stream: resumes at any event, without missing or repeating one', async () => {
    const { body: ran } = await api().service.run('manySteps', { n: 5 })
    const whole = (await readAll(ran.workflowId)).filter(({ event }) => event === 'history')
    const received: Sent[] = []

    while (received.length < 30) received.push(await nextEvent(ran.workflowId, received.at(-1)?.id))

    expect(received).toEqual(whole.slice(0, 30))
  })

  /** Disconnects after the first event of the history. */
  async function nextEvent(run: string, lastEventId?: string): Promise<Sent> {
    const stream = await open(run, lastEventId)
    const sent = await stream.next('history')
    stream.cut()
    return sent
  }

  test('history stream: follows an open run, and has nothing left after its end', async () => {
    const { workflowId } = await startMessages(api())
    const stream = await open(workflowId)
    const types: string[] = []
    const nextType = async () => types.push((await stream.next('history')).data.eventType)
    while (types.at(-1) !== 'WorkflowTaskCompleted') await nextType()

    await api().service.post(`${workflowId}/signal/finish`)
    while (types.at(-1) !== 'WorkflowExecutionCompleted') await nextType()
    const done = await stream.next('done')
    stream.cut()
    const again = await api().service.call(
      'GET',
      pathOf(workflowId),
      undefined,
      resume(`${done.data.runId}@${types.length}`),
    )

    expect(types).toContain('WorkflowExecutionSignaled')
    expect(done.data).toMatchObject({ workflowId, status: 'completed', historyLength: types.length })
    expect([again.status, again.text]).toEqual([204, ''])
  })

  test('history stream: ends with its run when that continues as a new one', async () => {
    const { workflowId, firstExecutionRunId: runId } = await startDirectly(api(), 'chainOnSignal', { args: [1] })
    const stream = await open(workflowId)

    await stream.next('history')
    await api().service.post(`${workflowId}/signal/next`)
    const done = await stream.next('done')
    stream.cut()

    expect(done.data).toMatchObject({ workflowId, runId, status: 'continued' })
    await api().service.post(`${workflowId}/terminate`)
  })

  test('history stream: a client that reconnects reads on in the run that it has read, not in the next one', async () => {
    const { workflowId, firstExecutionRunId: runId } = await startDirectly(api(), 'chainOnSignal', { args: [1] })
    const stream = await open(workflowId)
    const received = [await stream.next('history'), await stream.next('history')]
    stream.cut()
    await api().service.post(`${workflowId}/signal/next`)
    await untilStatus(api(), workflowId, 'continued', { runId })

    const rest = (await readAll(workflowId, received.at(-1)?.id)).filter(({ event }) => event === 'history')
    const whole = await readAll(`${workflowId}/runs/${runId}`)
    const again = await api().service.call('GET', pathOf(workflowId), undefined, resume(rest.at(-1)?.id))

    expect([...received, ...rest].map(({ data }) => data)).toEqual(
      whole.filter(({ event }) => event === 'history').map(({ data }) => data),
    )
    expect(again.status).toBe(204)
    await api().service.post(`${workflowId}/terminate`)
  })

  test('history stream: errors before the first event are ordinary responses', async () => {
    const { body: ran } = await api().service.run('nothing')
    const get = (path: string, lastEventId?: string) => api().service.call('GET', path, undefined, resume(lastEventId))

    const answers = await Promise.all([
      get(pathOf(anId())),
      get(pathOf(ran.workflowId), 'x'),
      get(pathOf(ran.workflowId), `${ran.runId}@1000`),
      get(`${pathOf(ran.workflowId)}?wait=1s`),
    ])

    expect(answers.map(({ status, body }) => [status, body.error])).toEqual([
      [404, 'WorkflowNotFoundError'],
      [400, 'ValidationError'],
      [400, 'ValidationError'],
      [400, 'ValidationError'],
    ])
  })

  test('trace stream: its entries make the tree of the trace, also after each reconnect', async () => {
    const { body: ran } = await api().service.run('manySteps', { n: 40 }, { timeout: '120s' })
    const entriesIn = (sent: readonly Sent[]) => sent.filter(({ event }) => event === 'trace').map(({ data }) => data)
    const { body: trace } = await api().service.get(`${ran.workflowId}/trace-log`)

    const whole = await readAll(ran.workflowId, undefined, 'trace-log')
    const ids = whole.flatMap(({ id }) => id ?? [])
    const rest = await readAll(ran.workflowId, ids[0], 'trace-log')
    const left = await api().service.call('GET', pathOf(ran.workflowId, 'trace-log'), undefined, resume(ids.at(-1)))

    expect(whole[0]?.event).toBe('workflow')
    expect(toTraceTree(entriesIn(whole))).toEqual(trace.data)
    expect(ids.length).toBeGreaterThan(1)
    expect(entriesIn(rest)).toEqual(entriesIn(whole.slice(whole.findIndex(({ id }) => id !== undefined) + 1)))
    expect(left.status).toBe(204)
  })

  test('trace stream: sends the steps of an open run as they begin and end, until the run ends', async () => {
    const { workflowId } = await startMessages(api())
    const stream = await open(workflowId, undefined, 'trace-log')
    const began = (await stream.next('trace')).data

    await api().service.post(`${workflowId}/signal/finish`)
    const signal = [(await stream.next('trace')).data, (await stream.next('trace')).data]
    const ended = (await stream.next('trace')).data
    const done = await stream.next('done')
    stream.cut()

    expect([began, ...signal, ended]).toMatchObject([
      { kind: 'workflow', phase: 'began', parentId: null },
      { kind: 'signal', name: 'finish', phase: 'began' },
      { kind: 'signal', name: 'finish', phase: 'ended' },
      { kind: 'workflow', phase: 'ended' },
    ])
    expect(done.data).toMatchObject({ workflowId, status: 'completed' })
  })
}

function resume(lastEventId?: string): Record<string, string> {
  return lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId }
}
