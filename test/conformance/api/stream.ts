import { expect, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import type { Answer } from '../../support/api.ts'
import { eventsIn, openEvents, type Sent } from '../../support/event-stream.ts'
import { rule } from '../../support/rules.ts'
import { type ApiFixture, AUTHORIZED, anId, startDirectly } from './api-fixture.ts'

/** GET and POST stream. */
export function streams(api: () => ApiFixture): void {
  const pathOf = (run: string, parameters = '') => `/workflow/${run}/stream${parameters}`
  const post = (run: string, body: unknown, headers?: Record<string, string>) =>
    api().service.post(`${run}/stream`, body, headers)
  const signal = (id: string, name: string, payload?: unknown) =>
    api().service.post(`${id}/signal/${name}`, payload === undefined ? undefined : { payload })
  const json = (run: string, parameters = ''): Promise<Answer> =>
    api().service.get(`${run}/stream${parameters}`, { Accept: 'application/json' })
  const open = (run: string, parameters = '', lastEventId?: string) =>
    openEvents(`${api().service.url}${pathOf(run, parameters)}`, {
      headers: { ...AUTHORIZED, ...(lastEventId !== undefined && { 'Last-Event-ID': lastEventId }) },
    })

  /** All events of the stream, once it has ended. */
  async function readAll(run: string, parameters = '', lastEventId?: string): Promise<Sent[]> {
    const headers = lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId }
    const { status, text } = await api().service.call('GET', pathOf(run, parameters), undefined, headers)
    expect(status).toBe(200)
    return eventsIn(text)
  }

  /** A run with a stream, and how clients publish to it. */
  async function startStream(input: object = {}) {
    const { body } = await api().service.start('streamSignals', input)
    const { workflowId, runId } = body as { workflowId: string; runId: string }
    const publish = async (...data: unknown[]) => {
      const answer = await post(workflowId, { items: data.map((each) => ({ topic: 'tokens', data: each })) })
      expect(answer.status).toBe(202)
    }
    return { workflowId, runId, publish }
  }

  const dataOf = (sent: readonly Sent[]) => sent.filter(({ event }) => event === 'item').map(({ data }) => data.data)

  rule('stream.sends-what-is-published', async () => {
    const { workflowId, runId, publish } = await startStream()
    const stream = await open(workflowId)
    const workflow = await stream.next('workflow')
    await publish({ text: 'Hello' })
    const first = await stream.next('item')
    await publish('world')
    const second = await stream.next('item')
    await signal(workflowId, 'finish')
    const done = await stream.next('done')

    expect([workflow, first, second, done]).toEqual([
      { event: 'workflow', data: { workflowId, runId, status: 'running', from: 0 } },
      { id: `0@${runId}`, event: 'item', data: { offset: 0, topic: 'tokens', data: { text: 'Hello' } } },
      { id: `1@${runId}`, event: 'item', data: { offset: 1, topic: 'tokens', data: 'world' } },
      {
        id: `2@${runId}/end`,
        event: 'done',
        data: {
          workflowId,
          runId,
          status: 'completed',
          completedAt: expect.stringMatching(/^\d{4}-.*Z$/),
          next: 2,
          complete: true,
        },
      },
    ])
  })

  rule('stream.is-the-same-for-all-readers', async () => {
    const { workflowId, runId, publish } = await startStream()
    const live = await open(workflowId)
    await live.next('workflow')
    for (const word of ['one', 'two', 'three']) {
      await publish(word)
      await live.next('item')
    }
    await signal(workflowId, 'finish')
    await live.next('done')

    const whole = await readAll(workflowId)
    const pinned = await readAll(`${workflowId}/runs/${runId.toUpperCase()}`)
    const rest = await readAll(workflowId, '', whole[1]?.id)
    const from = await readAll(workflowId, `?from=${encodeURIComponent(whole[1]?.id ?? '')}`)
    const offset = await readAll(workflowId, '?from=1')
    const after = await api().service.call('GET', pathOf(workflowId), undefined, { 'Last-Event-ID': `3@${runId}/end` })

    expect(dataOf(whole)).toEqual(['one', 'two', 'three'])
    expect([pinned.slice(1), rest.slice(1), from.slice(1), offset.slice(1)]).toEqual([
      whole.slice(1),
      whole.slice(2),
      whole.slice(2),
      whole.slice(2),
    ])
    expect([after.status, after.text]).toEqual([204, ''])
  })

  test('stream: has everything of a run that ended at once, although no client has read it', async () => {
    const { workflowId, publish } = await startStream()
    await publish('one', 'two')
    await publish('three')
    await signal(workflowId, 'finish')
    await api().service.get(`${workflowId}/result?wait=30s`)

    const events = await readAll(workflowId)

    expect(dataOf(events)).toEqual(['one', 'two', 'three'])
    expect(events.at(-1)?.data).toMatchObject({ status: 'completed', next: 3, complete: true })
  })

  test('stream: says which items of a run are lost that its workflow code published at its very end', async () => {
    const { body } = await api().service.run('streamItself', 3)

    const events = await readAll(body.workflowId)

    expect(events.slice(1).map(({ event, data }) => [event, data])).toEqual([
      ['truncated', { from: 0, to: 3 }],
      ['done', expect.objectContaining({ next: 3, complete: true })],
    ])
  })

  test('stream: run as events sends the items before the result, and continues after any of them', async () => {
    const body = { workflowName: 'streamFromActivity', input: ['one', 'two', 'three'], stream: { topics: ['tokens'] } }
    const run = (lastEventId?: string) =>
      api().service.post('run', body, {
        Accept: 'text/event-stream',
        ...(lastEventId !== undefined && { 'Last-Event-ID': lastEventId }),
      })

    const sent = eventsIn((await run()).text)
    const [started, first] = sent
    const { workflowId, runId } = started?.data ?? {}
    const again = eventsIn((await run(first?.id)).text)

    expect(sent.map(({ id, event, data }) => [id, event, event === 'item' ? data.data.text : null])).toEqual([
      [`${workflowId}/${runId}`, 'started', null],
      [`${workflowId}/${runId}/1`, 'item', 'one'],
      [`${workflowId}/${runId}/2`, 'item', 'two'],
      [`${workflowId}/${runId}/3`, 'item', 'three'],
      [`${workflowId}/${runId}/end`, 'result', null],
    ])
    expect(again).toEqual([started, ...sent.slice(2)])
    const json = await api().service.post('run', body)
    expect([json.status, json.body.error]).toEqual([400, 'ValidationError'])
  })

  test('stream: run as events of a workflow without a stream has no items', async () => {
    const body = { workflowName: 'echo', input: 1, stream: {} }

    const sent = await api().service.post('run', body, { Accept: 'text/event-stream' })

    expect(eventsIn(sent.text).map(({ event }) => event)).toEqual(['started', 'result'])
  })

  test('stream: run in the format of the AI SDK names the workflow in a header', async () => {
    const chunks = [
      { type: 'start' },
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', delta: 'Hello' },
      { type: 'text-end', id: 't' },
      { type: 'finish' },
    ]
    const body = { workflowName: 'streamParts', args: ['chat', chunks], stream: { format: 'ui-message' } }

    const sent = await api().service.post('run', body, { Accept: 'text/event-stream' })

    expect(sent.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1')
    const status = await api().service.get(`${sent.headers.get('x-workflow-run-id')}/status`)
    expect(status.body).toMatchObject({ workflowName: 'streamParts', status: 'completed' })
    const frames = [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]'].map((data) => `data: ${data}\n\n`)
    expect(sent.text).toContain(frames.join(''))
  })

  test('stream: selects topics, and moves the position of a reader past the items of others', async () => {
    const { workflowId, runId } = await startStream()
    await post(workflowId, {
      items: [
        { topic: 'a', data: 1 },
        { topic: 'b', data: 2 },
        { topic: 'c', data: 3 },
        { topic: 'a', data: 4 },
        { topic: 'b', data: 5 },
      ],
    })

    const both = await json(workflowId, '?topic=a&topic=c')
    await signal(workflowId, 'finish')
    const events = await readAll(workflowId, '?topic=a')

    expect(both.body).toMatchObject({
      items: [
        { offset: 0, topic: 'a', data: 1 },
        { offset: 2, topic: 'c', data: 3 },
        { offset: 3, topic: 'a', data: 4 },
      ],
      next: `4@${runId}`,
    })
    expect(dataOf(events)).toEqual([1, 4])
  })

  test('stream: responds with JSON to clients that prefer it, item by item until the end', async () => {
    const { workflowId, runId, publish } = await startStream()
    const empty = await json(workflowId)
    await publish('one', 'two')
    await publish('three')
    const first = await json(workflowId, `?limit=2&from=${encodeURIComponent(empty.body.next)}`)
    const second = await json(workflowId, `?from=${encodeURIComponent(first.body.next)}`)
    const waiting = json(workflowId, `?wait=30s&from=${encodeURIComponent(second.body.next)}`)
    await publish('four')
    const third = await waiting
    await signal(workflowId, 'finish')
    const last = await json(workflowId, `?wait=30s&from=${encodeURIComponent(third.body.next)}`)

    const running = { workflowId, runId, status: 'running', truncated: null, done: null }
    expect([empty, first, second, third].map(({ body }) => body)).toEqual([
      { ...running, items: [], next: `-@${runId}` },
      {
        ...running,
        items: [
          { offset: 0, topic: 'tokens', data: 'one' },
          { offset: 1, topic: 'tokens', data: 'two' },
        ],
        next: `1@${runId}`,
      },
      { ...running, items: [{ offset: 2, topic: 'tokens', data: 'three' }], next: `2@${runId}` },
      { ...running, items: [{ offset: 3, topic: 'tokens', data: 'four' }], next: `3@${runId}` },
    ])
    expect(last.body).toMatchObject({
      status: 'completed',
      items: [],
      next: null,
      done: { status: 'completed', complete: true },
    })
  })

  test('stream: begins with now, at an offset that does not exist yet, and after what was truncated', async () => {
    const { workflowId, publish } = await startStream()
    await publish('one', 'two', 'three')
    const now = await open(workflowId, '?from=now')
    await now.next('workflow')
    const ahead = await open(workflowId, '?from=4')
    await ahead.next('workflow')
    await json(workflowId)
    await signal(workflowId, 'truncate', 2)
    await publish('four', 'five')

    expect([(await now.next('item')).data.data, (await ahead.next('item')).data.data]).toEqual(['four', 'five'])
    now.cut()
    ahead.cut()
    await signal(workflowId, 'finish')
  })

  rule('stream.continues-with-the-next-run', async () => {
    const { workflowId, runId, publish } = await startStream()
    const stream = await open(workflowId)
    await publish('one')
    await stream.next('item')
    await signal(workflowId, 'continueAsNew')
    const carried = await stream.next('continued')
    await publish('two')
    const second = await stream.next('item')
    await signal(workflowId, 'restart')
    const reset = await stream.next('continued')
    await publish('three')
    const third = await stream.next('item')
    await signal(workflowId, 'finish')
    const done = await stream.next('done')
    const pinned = await readAll(`${workflowId}/runs/${runId}`)

    const [run2, run3] = [carried.data.runId, reset.data.runId]
    expect([carried.data, reset.data]).toEqual([
      { workflowId, runId: run2, continuedFrom: runId },
      { workflowId, runId: run3, continuedFrom: run2, reset: true },
    ])
    expect([second, third].map(({ id, data }) => [id, data.data])).toEqual([
      [`1@${run2}`, 'two'],
      [`0@${run3}`, 'three'],
    ])
    expect(done).toMatchObject({ id: `1@${run3}/end`, data: { runId: run3, status: 'completed', next: 1 } })
    expect(pinned.at(-1)).toMatchObject({ event: 'done', data: { runId, status: 'continued', next: 1 } })
    const resumed = await readAll(workflowId, '', `0@${runId}`)
    expect(dataOf(resumed)).toEqual(['two', 'three'])
  })

  rule('stream.publishes-once-for-each-key', async () => {
    const { workflowId, runId } = await startStream()
    const key = { 'Idempotency-Key': anId() }

    const first = await post(workflowId, { topic: 't', data: 1 }, key)
    const again = await post(`${workflowId}/runs/${runId}`, { topic: 't', data: 1 }, key)
    await signal(workflowId, 'continueAsNew')
    await until('the run has continued', async () => {
      const { body } = await api().service.get(`${workflowId}/status`)
      return body.runId !== first.body.runId
    })
    const later = await post(workflowId, { topic: 't', data: 1 }, key)
    await post(workflowId, { topic: 't', data: 2 })

    expect([first.status, again.body, later.status]).toEqual([202, first.body, 202])
    expect((await json(workflowId)).body.items.map(({ data }: { data: unknown }) => data)).toEqual([1, 2])
    await signal(workflowId, 'finish')
  })

  rule('stream.workflows-without-one-receive-nothing', async () => {
    const { body } = await api().service.start('defaultHandlers')
    const { workflowId, runId } = body

    const events = await api().service.call('GET', pathOf(workflowId))
    const items = await json(workflowId)
    const published = await post(workflowId, { topic: 't', data: 1 })
    await signal(workflowId, 'finish')
    const { body: result } = await api().service.get(`${workflowId}/result?wait=30s`)

    for (const { status, body } of [events, items, published])
      expect([status, body]).toEqual([
        404,
        expect.objectContaining({ error: 'StreamNotFoundError', workflowId, runId }),
      ])
    expect(result.output).toEqual(['finish'])
  })

  test('stream: rejects what is not valid', async () => {
    const { workflowId } = await startStream()
    const unknown = anId()

    const answers = [
      await json(workflowId, '?from=yesterday'),
      await json(workflowId, '?from=-1'),
      await json(workflowId, '?topic='),
      await json(workflowId, '?limit=0'),
      await json(workflowId, '?wait=61s'),
      await json(workflowId, '?offset=3'),
      await api().service.call('GET', pathOf(workflowId, '?wait=1s')),
      await api().service.call('GET', pathOf(workflowId), undefined, { 'Last-Event-ID': 'x' }),
      await json(`${workflowId}/runs/${crypto.randomUUID()}`),
      await api().service.call('GET', pathOf(workflowId), undefined, { 'Last-Event-ID': `0@${crypto.randomUUID()}` }),
      await json(unknown),
      await post(unknown, { topic: 't', data: 1 }),
      await post(workflowId, { data: 1 }),
      await post(workflowId, { items: [] }),
    ]

    expect(answers.map(({ status, body }) => [status, body.error])).toEqual([
      ...Array.from({ length: 8 }, () => [400, 'ValidationError']),
      ...Array.from({ length: 4 }, () => [404, 'WorkflowNotFoundError']),
      ...Array.from({ length: 2 }, () => [400, 'ValidationError']),
    ])
    await signal(workflowId, 'finish')
  })

  test('stream: HEAD adds nothing to the run', async () => {
    const { workflowId } = await startStream()

    const head = await api().service.call('HEAD', pathOf(workflowId))
    const { body } = await api().service.get(`${workflowId}/history`)

    expect([head.status, head.headers.get('Content-Type'), head.text]).toEqual([200, 'text/event-stream', ''])
    expect(body.events.map(({ eventType }: { eventType: string }) => eventType).join()).not.toContain('Update')
    await signal(workflowId, 'finish')
  })

  test('stream: of a workflow without a worker waits as events, and is a 504 as JSON', async () => {
    const { workflowId } = await startDirectly(api(), 'streamSignals', { taskQueue: anId() })

    const stream = await open(workflowId)
    const workflow = await stream.next('workflow')
    const items = await json(workflowId)
    const published = await post(workflowId, { topic: 't', data: 1 })

    expect(workflow.data).toMatchObject({ workflowId, status: 'running', from: 0 })
    expect([items.status, items.body.error, published.status]).toEqual([504, 'DeadlineExceededError', 504])
    stream.cut()
  })
}
