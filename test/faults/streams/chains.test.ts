/** Streams across the runs of a chain: continue-as-new under load, retries and cron runs. */
import { expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import type { Sent } from '../../support/event-stream.ts'
import { test } from '../../support/fixtures.ts'
import { outline, publish, publishUntilAccepted, readStream } from './reader.ts'

const HOPS = 4
const READERS = 50

const itemsOf = (events: readonly Sent[]) => events.filter(({ event }) => event === 'item')

test('streams: a workflow that continues as new while clients publish and read loses nothing and doubles nothing', async ({
  service,
}) => {
  const { workflowId, runId } = (await service.start('streamSignals', {})).body
  const readers = Array.from({ length: READERS }, () => readStream(() => service, `${workflowId}/stream`))
  await Promise.all(readers.map((reader) => reader.first('workflow')))
  const [reader] = readers
  const continued = () => reader?.events.filter(({ event }) => event === 'continued') ?? []
  let isPublishing = true
  const published: number[] = []

  async function keepPublishing(): Promise<void> {
    for (let number = 0; isPublishing; number++) {
      await publishUntilAccepted(service, workflowId, number)
      published.push(number)
      // The engine rejects the command to continue as new when another signal has arrived: with a worker that is slower
      // than the signals the workflow would never continue.
      await until('the reader has the item', () => itemsOf(reader?.events ?? []).length > number)
    }
  }

  const publishing = keepPublishing()
  for (let hop = 1; hop <= HOPS; hop++) {
    const before = published.length
    await until('more is published', () => published.length > before + 3)
    await service.post(`${workflowId}/signal/continueAsNew`)
    await until('the reader continues', () => continued().length === hop)
  }
  isPublishing = false
  await publishing
  await service.post(`${workflowId}/signal/finish`)
  await Promise.all(readers.map(({ ended }) => ended))

  const runs = [runId, ...continued().map(({ data }) => data.runId)]
  expect(new Set(runs).size).toBe(HOPS + 1)
  expect(continued().map(({ data }) => data)).toEqual(
    runs.slice(1).map((next, at) => ({ workflowId, runId: next, continuedFrom: runs[at] })),
  )
  for (const { events } of readers) {
    expect(events.at(-1)?.data).toMatchObject({ runId: runs.at(-1), next: published.length, complete: true })
    expect(itemsOf(events).map(({ data }) => [data.offset, data.data])).toEqual(
      published.map((number) => [number, number]),
    )
    expect(events.filter(({ event }) => event === 'truncated')).toEqual([])
  }

  // A reader that has lost its connection in an earlier run of the chain.
  const middle = itemsOf(reader?.events ?? []).find(({ id }) => id?.startsWith(runs[1]))
  const resumed = readStream(() => service, `${workflowId}/stream`, { 'Last-Event-ID': middle?.id ?? '' })
  await resumed.ended
  expect(itemsOf(resumed.events).map(({ data }) => data.data)).toEqual(published.slice(middle?.data.offset + 1))
  expect(resumed.events.filter(({ event }) => event === 'continued').map(({ data }) => data.runId)).toEqual(
    runs.slice(2),
  )
})

test('streams: the last run of a chain, which was never polled, is read from its input and its history', async ({
  service,
}) => {
  const { workflowId, runId: firstRunId } = (await service.start('streamSignals', {})).body
  const send = (data: string, runId = '') =>
    service.post(
      `${workflowId}${runId && `/runs/${runId}`}/stream`,
      { topic: 't', data },
      { 'Idempotency-Key': `${firstRunId}-${data}` },
    )
  await send('a')
  await send('b')
  await service.post(`${workflowId}/signal/continueAsNew`)
  const runId = await until('the workflow continues', async () => {
    const { body } = await service.get(`${workflowId}/status`)
    return body.runId === firstRunId ? undefined : body.runId
  })
  await send('c', runId)
  // Sent again to the next run: the stream has it already.
  await send('a', runId)
  await service.post(`${workflowId}/signal/finish`)
  await service.get(`${workflowId}/result`)

  const [whole, part] = ['', '?from=1'].map((from) =>
    readStream(() => service, `${workflowId}/runs/${runId}/stream${from}`),
  )
  await Promise.all([whole?.ended, part?.ended])

  const done = { status: 'completed', next: 3, complete: true }
  expect(outline(whole?.events ?? [])).toEqual(['workflow', 'a', 'b', 'c', 'done'])
  expect(outline(part?.events ?? [])).toEqual(['workflow', 'b', 'c', 'done'])
  expect(itemsOf(whole?.events ?? []).map(({ data }) => data.offset)).toEqual([0, 1, 2])
  expect([whole, part].map((reader) => reader?.events.at(-1)?.data)).toMatchObject([done, done])
})

test('streams: a run that is retried begins a stream of its own', async ({ service, client, catalog }) => {
  const workflowId = crypto.randomUUID()
  await client.workflow.start('streamSignals', {
    workflowId,
    taskQueue: catalog,
    args: [{}],
    retry: { initialInterval: '10ms', maximumAttempts: 2 },
  })
  const reader = readStream(() => service, `${workflowId}/stream`)
  await publish(service, workflowId, 'first')
  await reader.first('item')
  await service.post(`${workflowId}/signal/fail`)
  const continued = await reader.first('continued')
  await publish(service, workflowId, 'second')
  await until('the item of the second run arrives', () => reader.data().length === 2)
  await service.post(`${workflowId}/signal/finish`)
  await reader.ended

  expect(continued.data.reset).toBe(true)
  expect(itemsOf(reader.events).map(({ data }) => [data.offset, data.data])).toEqual([
    [0, 'first'],
    [0, 'second'],
  ])
  expect(reader.events.at(-1)?.data).toMatchObject({ status: 'completed', next: 1 })
})

test('streams: each run of a cron workflow begins a stream of its own, also if it publishes as much as the one before', async ({
  service,
  client,
  catalog,
}) => {
  const workflowId = crypto.randomUUID()
  const { firstExecutionRunId } = await client.workflow.start('streamItselfFirst', {
    workflowId,
    taskQueue: catalog,
    args: [2],
    cronSchedule: '@every 1s',
  })
  const reader = readStream(() => service, `${workflowId}/stream`)
  for (let runs = 1; runs <= 3; runs++) {
    await until('the run has published', () => reader.data().length === 2 * runs)
    await service.post(`${workflowId}/signal/finish`)
  }
  await until(
    'the fourth run follows',
    () => outline(reader.events).filter((name) => name === 'continued').length === 3,
  )
  await service.post(`${workflowId}/terminate`)
  await reader.ended

  const outlined = outline(reader.events).slice(0, 10)
  expect(outlined).toEqual(['workflow', 0, 1, 'continued', 0, 1, 'continued', 0, 1, 'continued'])
  expect(reader.events[0]?.data.runId).toBe(firstExecutionRunId)
  expect(reader.events.filter(({ event }) => event === 'continued').map(({ data }) => data.reset)).toEqual([
    true,
    true,
    true,
  ])
})
