/** Two replicas with readers on both, of which one is killed while items are published. */
import { expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { test } from '../../support/fixtures.ts'
import { readiness } from '../../support/readiness.ts'
import { pollsOf, publish, readStream } from './reader.ts'

const READERS = 20
const BATCHES = 30

test('streams: the readers of a replica that is killed continue at another one, and a run has one update per batch', async ({
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
