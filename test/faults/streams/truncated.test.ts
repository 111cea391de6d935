/** Streams from which the workflow removes items. */
import { expect } from 'vitest'
import type { Sent } from '../../support/event-stream.ts'
import { test } from '../../support/fixtures.ts'
import { outline, publish, readStream } from './reader.ts'

/** What a reader got, with what it has missed. */
const outlined = (events: readonly Sent[]) =>
  outline(events).map((name, at) => (name === 'truncated' ? events[at]?.data : name))

test('streams: readers learn what a workflow has removed, wherever they begin, and get the rest', async ({
  serve,
  service,
}) => {
  const { workflowId, runId } = (await service.start('streamSignals', {})).body
  const read = (api: typeof service, from: string | number) =>
    readStream(() => api, `${workflowId}/stream?from=${encodeURIComponent(from)}`)
  await publish(service, workflowId, 'a', 'b', 'c', 'd')
  await service.post(`${workflowId}/signal/truncate`, { payload: 3 })
  const starts = [0, 1, `${runId}@0`, 3, `${runId}@2`]
  const live = starts.map((from) => read(service, from))
  await Promise.all(live.map((reader) => reader.first('item')))
  const { body } = await service.get(`${workflowId}/stream?from=1`, { Accept: 'application/json' })
  await publish(service, workflowId, 'e')
  await service.post(`${workflowId}/signal/finish`)
  await Promise.all(live.map(({ ended }) => ended))
  const replica = serve()
  const later = starts.map((from) => read(replica, from))
  await Promise.all(later.map(({ ended }) => ended))

  for (const readers of [live, later])
    expect(readers.map(({ events }) => outlined(events))).toEqual([
      ['workflow', { from: 0, to: 3 }, 'd', 'e', 'done'],
      ['workflow', { from: 1, to: 3 }, 'd', 'e', 'done'],
      ['workflow', { from: 1, to: 3 }, 'd', 'e', 'done'],
      ['workflow', 'd', 'e', 'done'],
      ['workflow', 'd', 'e', 'done'],
    ])
  expect(body).toMatchObject({ truncated: { from: 1, to: 3 }, items: [{ offset: 3, data: 'd' }] })
})

test('streams: the first response as JSON has what is left, and what is lost before it', async ({ serve, service }) => {
  const { workflowId } = (await service.start('streamSignals', {})).body
  await publish(service, workflowId, 'a', 'b', 'c', 'd')
  await service.post(`${workflowId}/signal/truncate`, { payload: 3 })
  const json = (api: typeof service) => api.get(`${workflowId}/stream`, { Accept: 'application/json' })
  const [first, stored] = [await json(service), await json(serve())]
  await service.post(`${workflowId}/signal/finish`)

  for (const { body } of [first, stored])
    expect(body).toMatchObject({ truncated: { from: 0, to: 3 }, items: [{ offset: 3, data: 'd' }], done: null })
})

test('streams: what is removed before a poll reaches the workflow is missing in the middle, for all readers', async ({
  serviceBehindFaultProxy: replica,
  service,
  faultProxy,
}) => {
  const { workflowId, runId } = (await service.start('streamSignals', {})).body
  const restore = faultProxy.on({
    method: 'UpdateWorkflowExecution',
    containing: 'portico-stream/2',
    fault: { code: 14, message: 'unavailable' },
  })
  const reader = readStream(() => replica, `${workflowId}/stream`)
  await publish(service, workflowId, 'a', 'b')
  await reader.first('item')
  await publish(service, workflowId, 'c', 'd', 'e')
  await service.post(`${workflowId}/signal/truncate`, { payload: 4 })
  restore()
  const truncated = await reader.first('truncated')
  const json = (api: typeof service, from: string) =>
    api.get(`${workflowId}/stream?from=${encodeURIComponent(from)}`, { Accept: 'application/json' })
  const first = (await json(service, '0')).body
  const second = (await json(replica, first.next)).body
  const late = ['?from=0', '?from=3'].map((from) => readStream(() => service, `${workflowId}/stream${from}`))
  await service.post(`${workflowId}/signal/finish`)
  await Promise.all([reader, ...late].map(({ ended }) => ended))

  const whole = ['workflow', 'a', 'b', { from: 2, to: 4 }, 'e', 'done']
  expect(truncated.id).toBeUndefined()
  expect([reader, ...late].map(({ events }) => outlined(events))).toEqual([
    whole,
    whole,
    ['workflow', { from: 3, to: 4 }, 'e', 'done'],
  ])
  expect([first, second]).toMatchObject([
    { items: [{ data: 'a' }, { data: 'b' }], next: `${runId}@1`, truncated: null },
    { items: [{ offset: 4, data: 'e' }], truncated: { from: 2, to: 4 } },
  ])
})
