import { expect, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { eventsIn, type Sent } from '../../support/event-stream.ts'
import { rule } from '../../support/rules.ts'
import type { ApiFixture } from './api-fixture.ts'
import { streamApi } from './stream-api.ts'

/** What GET stream sends. */
export function streams(api: () => ApiFixture): void {
  const { post, signal, json, open, pathOf, startStream } = streamApi(api)

  /** All events of the stream, once it has ended. */
  async function readAll(run: string, parameters = '', lastEventId?: string): Promise<Sent[]> {
    const headers = lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId }
    const { status, text } = await api().service.call('GET', pathOf(run, parameters), undefined, headers)
    expect(status).toBe(200)
    return eventsIn(text)
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
      { id: `${runId}@0`, event: 'item', data: { offset: 0, topic: 'tokens', data: { text: 'Hello' } } },
      { id: `${runId}@1`, event: 'item', data: { offset: 1, topic: 'tokens', data: 'world' } },
      {
        id: `${runId}@end`,
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
    const after = await api().service.call('GET', pathOf(workflowId), undefined, { 'Last-Event-ID': `${runId}@end` })

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
      next: `${runId}@4`,
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
      { ...running, items: [], next: `${runId}` },
      {
        ...running,
        items: [
          { offset: 0, topic: 'tokens', data: 'one' },
          { offset: 1, topic: 'tokens', data: 'two' },
        ],
        next: `${runId}@1`,
      },
      { ...running, items: [{ offset: 2, topic: 'tokens', data: 'three' }], next: `${runId}@2` },
      { ...running, items: [{ offset: 3, topic: 'tokens', data: 'four' }], next: `${runId}@3` },
    ])
    expect(last.body).toMatchObject({
      status: 'completed',
      items: [],
      next: null,
      done: { status: 'completed', complete: true },
    })
  })

  test('stream: begins with now, at an offset that does not exist yet, and after what was truncated', async () => {
    const { workflowId, runId, publish } = await startStream()
    await publish('one', 'two', 'three')
    const now = await open(workflowId, '?from=now')
    const next = now.next('item')
    // On workerd no other reader shows when this one has its place.
    await until('the reader has its place', () => now.position() === `${runId}@2`)
    const ahead = await open(workflowId, '?from=4')
    await ahead.next('workflow')
    await json(workflowId)
    await signal(workflowId, 'truncate', 2)
    await publish('four', 'five')

    expect([(await next).data.data, (await ahead.next('item')).data.data]).toEqual(['four', 'five'])
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
      [`${run2}@1`, 'two'],
      [`${run3}@0`, 'three'],
    ])
    expect(done).toMatchObject({ id: `${run3}@end`, data: { runId: run3, status: 'completed', next: 1 } })
    expect(pinned.at(-1)).toMatchObject({ event: 'done', data: { runId, status: 'continued', next: 1 } })
    const resumed = await readAll(workflowId, '', `${runId}@0`)
    expect(dataOf(resumed)).toEqual(['two', 'three'])
  })

  test('stream: HEAD adds nothing to the run', async () => {
    const { workflowId } = await startStream()

    const head = await api().service.call('HEAD', pathOf(workflowId))
    const { body } = await api().service.get(`${workflowId}/history`)

    expect([head.status, head.headers.get('Content-Type'), head.text]).toEqual([200, 'text/event-stream', ''])
    expect(body.events.map(({ eventType }: { eventType: string }) => eventType).join()).not.toContain('Update')
    await signal(workflowId, 'finish')
  })
}
