/** Streams of runs that end in other ways than by completion, or that cannot answer for a while. */
import { describe, expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import type { Api } from '../../support/api.ts'
import { test } from '../../support/fixtures.ts'
import { outline, pollsOf, publish, readStream } from './reader.ts'

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

      const status = how === 'cancel' ? 'canceled' : 'terminated'
      for (const { events } of [reader, later]) {
        expect(outline(events)).toEqual(['workflow', 1, 2, 'done'])
        expect(events.at(-1)?.data).toMatchObject({ status, next: 2, complete: true })
      }
    },
  )

  test('streams: a run that times out ends the stream', async ({ service, client, catalog }) => {
    const workflowId = crypto.randomUUID()
    const start = { workflowId, taskQueue: catalog, args: [{}], workflowExecutionTimeout: '4s' } as const
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

test('streams: a run that a large item would break is left alone after the first reader, and others are not disturbed', async ({
  service,
  client,
}) => {
  const { workflowId } = (await service.start('streamBig', 2_000_000)).body
  const other = (await service.start('streamSignals', {})).body.workflowId
  const reader = readStream(() => service, `${workflowId}/stream`)
  const undisturbed = readStream(() => service, `${other}/stream`)
  await publish(service, other, 1)
  await undisturbed.first('item')
  await reader.ended
  const admitted = await pollsOf(client, workflowId)
  const second = await service.call('GET', `/workflow/${workflowId}/stream`)
  const items = await json(service, workflowId)
  await publish(service, other, 2)
  await service.post(`${other}/signal/finish`)
  await undisturbed.ended

  expect(reader.events.at(-1)).toMatchObject({
    event: 'server_error',
    id: expect.stringMatching(/\/end$/),
    data: { status: 409, error: 'WorkflowNotReadyError', problem: expect.anything() },
  })
  for (const { status, body } of [second, items]) expect([status, body.error]).toEqual([409, 'WorkflowNotReadyError'])
  expect(await pollsOf(client, workflowId)).toEqual(admitted)
  expect(undisturbed.data()).toEqual([1, 2])
  await service.post(`${workflowId}/terminate`)
})
