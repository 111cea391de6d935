import { expect, test } from 'vitest'
import { ServiceError } from '../../../../src/service/model/errors.ts'
import type { FeedEvent } from '../../../../src/service/model/stream.ts'
import { type StreamSource, streamEvents } from '../../../../src/service/streams/stream-events.ts'
import { aCall } from '../../call.ts'
import { allOf, endAt, items, live, pageOf, RUN_1, RUN_2, scriptedStream } from './stream-fixture.ts'

const SOURCE: StreamSource = {
  run: { workflowId: 'w', runId: RUN_1, status: 'running' },
  from: 0,
  topics: [],
  followsChain: true,
}
const FIRST = { workflowId: 'w', runId: RUN_1, status: 'running', from: 0 } as const
const CONTINUED = { status: 'continued', next: { runId: RUN_2, from: 2, isReset: false } } as const

async function readAll(
  script: Parameters<typeof scriptedStream>[0],
  source: Partial<StreamSource> = {},
): Promise<{ events: FeedEvent[]; calls: string[] }> {
  const { ports, calls } = scriptedStream(script)
  return { events: await allOf(streamEvents(ports, { ...SOURCE, ...source }, aCall())), calls }
}

test('without topics, readers get the array that they share', async () => {
  const shared = items(0, 2)

  const { events } = await readAll({ pages: { [RUN_1]: [pageOf(shared), endAt(2)] } })

  expect(events[1]).toMatchObject({ type: 'items' })
  expect(events[1]?.type === 'items' && events[1].items).toBe(shared)
})

test('a page without items of the topics still moves the reader', async () => {
  const pages = [pageOf([...items(0, 1, 'a'), ...items(1, 1, 'b')]), pageOf(items(2, 1, 'b')), endAt(3)]

  const { events } = await readAll({ pages: { [RUN_1]: pages } }, { topics: ['a'] })

  expect(events.slice(1, 3)).toEqual([
    { type: 'items', runId: RUN_1, items: items(0, 1, 'a'), next: 2 },
    { type: 'items', runId: RUN_1, items: [], next: 3 },
  ])
})

test('says why the workflow cannot answer, with its status, and when everything was read', async () => {
  const paused = new ServiceError('WorkflowNotReadyError', 'paused', { details: { workflowStatus: 'paused' } })
  const pages = [{ type: 'obstacle', error: paused } as const, live(0), endAt(0)]

  const { events } = await readAll({ pages: { [RUN_1]: pages } })

  expect(events.slice(1, 3)).toEqual([
    { type: 'obstacle', workflow: { ...FIRST, status: 'paused' }, error: paused },
    { type: 'live', runId: RUN_1, next: 0, head: expect.any(Function) },
  ])
})

test('continues with the next run, from the offset where its stream continues', async () => {
  const pages = { [RUN_1]: [pageOf(items(0, 2)), endAt(2, CONTINUED)], [RUN_2]: [pageOf(items(2, 1)), endAt(3)] }

  const { events, calls } = await readAll({ pages })

  expect(events.map(({ type }) => type)).toEqual(['workflow', 'items', 'continued', 'items', 'done'])
  expect(events[2]).toEqual({
    type: 'continued',
    continued: { workflowId: 'w', runId: RUN_2, continuedFrom: RUN_1 },
    from: 2,
  })
  expect(events[4]).toMatchObject({ done: { runId: RUN_2, next: 3 } })
  expect(calls).toEqual([`open ${RUN_1} 0`, `close ${RUN_1}`, `open ${RUN_2} 2`, `close ${RUN_2}`])
})

test('a pinned stream ends with its run, which has continued', async () => {
  const { events, calls } = await readAll({ pages: { [RUN_1]: [endAt(2, CONTINUED)] } }, { followsChain: false })

  expect(events[1]).toMatchObject({ type: 'done', done: { runId: RUN_1, status: 'continued', next: 2 } })
  expect(calls).not.toContain(`open ${RUN_2} 2`)
})

test.each([
  ['that leaves', (events: AsyncGenerator<FeedEvent>) => events.return(undefined)],
  ['whose stream fails', (events: AsyncGenerator<FeedEvent>) => expect(events.next()).rejects.toThrow('lost')],
])('a reader %s is closed', async (_, leave) => {
  const { ports, calls } = scriptedStream({ pages: { [RUN_1]: [pageOf(items(0, 1)), new Error('lost')] } })
  const events = streamEvents(ports, SOURCE, aCall())
  await events.next()
  await events.next()

  await leave(events)

  expect(calls).toEqual([`open ${RUN_1} 0`, `close ${RUN_1}`])
})
