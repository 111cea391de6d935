/** Streams of runs that end in other ways than by completion, or that cannot answer for a while. */
import { describe, expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import type { Api } from '../../support/api.ts'
import { test } from '../../support/fixtures.ts'
import { outline, publish, publishUntilAccepted, readStream } from './reader.ts'

const json = (service: Api, id: string, parameters = '') =>
  service.get(`${id}/stream${parameters}`, { Accept: 'application/json' })

describe.concurrent('runs that end', () => {
  test.for(['cancel', 'terminate'] as const)(
    'streams: %s ends the stream with everything that was published',
    async (how, { service, client }) => {
      const { workflowId } = (await service.start('streamSignals', {})).body
      const reader = readStream(() => service, `${workflowId}/stream`)
      await publish(service, workflowId, 1)
      await reader.first('item')
      await publish(service, workflowId, 2)
      await client.workflow.getHandle(workflowId)[how]()
      await reader.ended
      const later = readStream(() => service, `${workflowId}/stream`)
      await later.ended
      const published = await publish(service, workflowId, 3)

      expect([published.status, published.body.error]).toEqual([409, 'WorkflowNotRunningError'])
      const status = how === 'cancel' ? 'canceled' : 'terminated'
      for (const { events } of [reader, later]) {
        expect(outline(events)).toEqual(['workflow', 1, 2, 'done'])
        expect(events.at(-1)?.data).toMatchObject({ status, next: 2, complete: true })
      }
    },
  )

  test('streams: a run that times out ends the stream', async ({ service, client, catalog }) => {
    const workflowId = crypto.randomUUID()
    // Longer than a busy worker may take before the item is published: 10 s.
    const start = { workflowId, taskQueue: catalog, args: [{}], workflowExecutionTimeout: '15s' } as const
    await client.workflow.start('streamSignals', start)
    const reader = readStream(() => service, `${workflowId}/stream`)
    await publish(service, workflowId, 1)
    await reader.ended

    expect(outline(reader.events)).toEqual(['workflow', 1, 'done'])
    expect(reader.events.at(-1)?.data).toMatchObject({ status: 'timed_out', complete: true })
  })
})

test('streams: a paused run is waited for with its status, and a 409 for clients that do not wait', async ({
  service,
}) => {
  const { workflowId } = (await service.start('streamSignals', {})).body
  const reader = readStream(() => service, `${workflowId}/stream`)
  await publish(service, workflowId, 1)
  await reader.first('item')
  await service.post(`${workflowId}/pause`)
  await until('it is paused', async () => (await service.get(`${workflowId}/status`)).body.status === 'paused')
  const joined = readStream(() => service, `${workflowId}/stream`)
  const paused = await until('the reader learns of the pause', () =>
    joined.events.find(({ event, data }) => event === 'workflow' && data.status === 'paused'),
  )
  const stored = await json(service, workflowId)
  const beyond = await json(service, workflowId, '?from=1')
  await service.post(`${workflowId}/unpause`)
  await publish(service, workflowId, 2)
  await until('both have the second item', () => [reader, joined].every((each) => each.data().length === 2))
  await service.post(`${workflowId}/signal/finish`)
  await Promise.all([reader.ended, joined.ended])

  expect(paused.data).toMatchObject({ workflowId, status: 'paused' })
  expect(stored.body).toMatchObject({ items: [{ data: 1 }], done: null })
  expect([beyond.status, beyond.body.error]).toEqual([409, 'WorkflowNotReadyError'])
  expect([reader.data(), joined.data()]).toEqual([
    [1, 2],
    [1, 2],
  ])
})

test('streams: while the code of a workflow fails, readers wait and learn why', async ({ service }) => {
  const { workflowId } = (await service.start('streamSignals', {})).body
  await publish(service, workflowId, 1)
  await service.post(`${workflowId}/signal/failTask`)
  const failing = readStream(() => service, `${workflowId}/stream`)
  const told = await until('the reader learns of the failure', () =>
    failing.events.find(({ event, data }) => event === 'workflow' && data.problem !== undefined),
  )
  // Between two attempts on different workers the engine does not say that the task has failed.
  const items = await until('a request learns of it', async () => {
    const answer = await json(service, workflowId)
    return answer.status !== 504 && answer
  })
  await service.post(`${workflowId}/terminate`)
  await failing.ended

  expect(told.data.problem).toMatchObject({ message: 'a bug in the workflow' })
  expect([items.status, items.body.error]).toEqual([409, 'WorkflowNotReadyError'])
  expect(failing.events.at(-1)?.data).toMatchObject({ status: 'terminated' })
})

test('streams: readers do not start a run with a delay, and get everything once it has started', async ({
  service,
  client,
  catalog,
}) => {
  const start = async (startDelay: '1h' | '2s') => {
    const workflowId = crypto.randomUUID()
    await client.workflow.start('streamSignals', { workflowId, taskQueue: catalog, args: [{}], startDelay })
    return workflowId
  }
  const delayed = await start('1h')
  const reader = readStream(() => service, `${delayed}/stream`)
  await reader.first('workflow')
  const rejected = [await json(service, delayed), await publish(service, delayed, 1)]
  const { body } = await service.get(`${delayed}/history`)
  await service.post(`${delayed}/terminate`)
  await reader.ended
  const soon = await start('2s')
  const early = readStream(() => service, `${soon}/stream`)
  await early.first('workflow')
  await publishUntilAccepted(service, soon, 1)
  await service.post(`${soon}/signal/finish`)
  await early.ended

  expect(body.events.map(({ eventType }: { eventType: string }) => eventType)).toEqual(['WorkflowExecutionStarted'])
  for (const { status, body } of rejected) expect([status, body.error]).toEqual([409, 'WorkflowNotReadyError'])
  expect(reader.events.at(-1)).toMatchObject({ event: 'done', data: { status: 'terminated', next: 0 } })
  expect(outline(early.events)).toEqual(['workflow', 1, 'done'])
})

// More polls than the engine lets a run have at a time.
const POLLS = 12

test('streams: a reset ends the stream of the run, and the new run has the items, and takes updates', async ({
  service,
}) => {
  const { workflowId, runId } = (await service.start('streamSignals', {})).body
  const reader = readStream(() => service, `${workflowId}/stream`)
  for (let number = 0; number < POLLS; number++) {
    await publish(service, workflowId, number)
    await until('the item arrives', () => reader.data().length === number + 1)
  }
  const { body: reset } = await service.post(`${workflowId}/reset`, { eventId: 1 })
  await reader.ended
  const next = readStream(() => service, `${workflowId}/stream`)
  await until('the items arrive', () => next.data().length === POLLS)
  const { body } = await service.get(`${workflowId}/history?pageSize=1000`)
  const sum = await service.post(`${workflowId}/update/add`, { payload: 1 })
  await publish(service, workflowId, 'new')
  await until('the new item arrives', () => next.data().length === POLLS + 1)
  const resumed = readStream(() => service, `${workflowId}/stream`, { 'Last-Event-ID': reader.events[2]?.id ?? '' })
  await resumed.ended
  await service.post(`${workflowId}/signal/finish`)
  await next.ended

  const numbers = Array.from({ length: POLLS }, (_, number) => number)
  expect(outline(reader.events)).toEqual(['workflow', ...numbers, 'done'])
  expect(reader.events.at(-1)?.data).toMatchObject({ runId, status: 'terminated', next: POLLS, complete: true })
  expect(outline(resumed.events)).toEqual(['workflow', ...numbers.slice(2), 'done'])
  expect(outline(next.events)).toEqual(['workflow', ...numbers, 'new', 'done'])
  expect(next.events.at(-1)?.data).toMatchObject({ runId: reset.runId, status: 'completed', next: POLLS + 1 })
  expect([sum.status, sum.body]).toMatchObject([200, 1])
  const admitted = body.events.filter(({ eventType }: { eventType: string }) => eventType.endsWith('UpdateAdmitted'))
  expect(admitted.length).toBeGreaterThanOrEqual(POLLS)
})
