/** Readers on two replicas, of which one may be killed while items are published. */
import { expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import type { Answer } from '../../support/api.ts'
import { startFaultProxy } from '../../support/fault-proxy.ts'
import { test } from '../../support/fixtures.ts'
import { readiness } from '../../support/readiness.ts'
import { startWorkerProcess } from '../start-worker-process.ts'
import { pollsOf, publish, readStream } from './reader.ts'

const READERS = 20
const BATCHES = 30

const AS_JSON = { Accept: 'application/json' }

test('streams: the readers of a replica that is killed continue at another one, and a run has one update per batch (failure 35)', async ({
  startService,
  worker: _,
  client,
}) => {
  const [killed, other] = await Promise.all([startService(), startService()])
  await Promise.all([readiness(killed), readiness(other)])
  const { workflowId } = (await other.start('streamSignals', {})).body
  const readers = [killed, other].flatMap((service) =>
    Array.from({ length: READERS }, () => {
      let isFirst = true
      return readStream(() => {
        const place = isFirst ? service : other
        isFirst = false
        return place
      }, `${workflowId}/stream`)
    }),
  )
  await Promise.all(readers.map((reader) => reader.first('workflow')))

  for (let batch = 0; batch < BATCHES; batch++) {
    await publish(other, workflowId, 2 * batch, 2 * batch + 1)
    if (batch === BATCHES / 3) void killed.kill()
    await until('a reader has the batch', () => readers.at(-1)?.data().length === 2 * batch + 2)
  }
  const expectedPolls = Array.from({ length: BATCHES + 1 }, (_, batch) => `portico-stream/${2 * batch}`)
  await until('the next poll is open', async () =>
    (await pollsOf(client, workflowId)).includes(`portico-stream/${2 * BATCHES}`),
  )
  await other.post(`${workflowId}/signal/finish`)
  await Promise.all(readers.map(({ ended }) => ended))

  const all = Array.from({ length: 2 * BATCHES }, (_, number) => number)
  const offsets = readers.map(({ events }) =>
    events.filter(({ event }) => event === 'item').map(({ data }) => data.offset),
  )
  expect(readers.map((reader) => reader.data())).toEqual(readers.map(() => all))
  expect(offsets).toEqual(readers.map(() => all))
  expect(readers.map(({ events }) => events.at(-1)?.data)).toEqual(
    readers.map(() => expect.objectContaining({ status: 'completed', next: 2 * BATCHES, complete: true })),
  )
  expect(readers.slice(0, READERS).every(({ statuses }) => statuses.length >= 2)).toBe(true)
  expect(await pollsOf(client, workflowId)).toEqual(expectedPolls)
})

const STREAMS = 36

test('streams: two replicas respond to readers at the same time, although the engine holds one query of a run', async ({
  serve,
  worker: _,
}) => {
  const replicas = [serve(), serve()]
  const [first = serve()] = replicas
  await Promise.all(replicas.map((replica) => readiness(replica)))
  const answers: Answer[] = []
  for (let stream = 0; stream < STREAMS; stream++) {
    const { workflowId } = (await first.start('streamSignals', {})).body
    const readers = [...replicas, ...replicas].map((replica) => replica.get(`${workflowId}/stream`, AS_JSON))
    answers.push(...(await Promise.all(readers)))
    await first.post(`${workflowId}/signal/finish`)
  }

  expect(answers.map(({ status, body }) => body.message ?? status)).toEqual(answers.map(() => 200))
})

test('streams: a poll that the worker has not accepted yet, because another replica has just sent it, is no 504', async ({
  engine,
  serve,
  client,
  cleanup,
}) => {
  let polls = 0
  const completion = Promise.withResolvers<void>()
  let reads = 0
  // Holds the worker's response to the second poll: that of the item's task has arrived before.
  const proxy = await startFaultProxy(engine.address, null, {
    onCall(method) {
      if (method === 'UpdateWorkflowExecution') polls++
      if (method === 'PollWorkflowExecutionUpdate') reads++
      return method === 'RespondWorkflowTaskCompleted' && polls > 1 ? completion.promise : undefined
    },
  })
  cleanup.defer(() => proxy.stop())
  const catalog = `streams-${crypto.randomUUID()}`
  const worker = await startWorkerProcess({ address: proxy.address, catalog, cleanup })
  const [sender, other] = [1, 2].map(() => serve({ ENGINE_ADDRESS: proxy.address, SERVICE_CATALOG_ID: catalog }))
  if (sender === undefined || other === undefined) throw new Error('two replicas were started')
  const { workflowId } = (await sender.start('streamSignals', {})).body
  const reader = readStream(() => sender, `${workflowId}/stream`)
  await publish(sender, workflowId, 1)
  await until('the second poll is sent', () => polls > 1)
  const before = reads
  let isAnswered = false
  const answer = other.get(`${workflowId}/stream?from=1`, AS_JSON).finally(() => {
    isAnswered = true
  })
  await until('the other replica reads the poll again, or gives up', () => isAnswered || reads > before + 2)
  completion.resolve()
  const { status, body } = await answer
  await client.workflow.getHandle(workflowId).signal('finish')
  await reader.ended
  await worker.kill()

  expect([status, body.message, body.items]).toEqual([200, undefined, []])
  expect(await pollsOf(client, workflowId)).toEqual(['portico-stream/0', 'portico-stream/1'])
})
