/** Streams of a worker in Python while a replica or the engine is killed, and with encrypted payloads. */
import { existsSync } from 'node:fs'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { startEngine } from '../../dev/servers/engine.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { pollsOf, publish, readStream } from '../faults/streams/reader.ts'
import type { Api } from '../support/api.ts'
import { startCodec } from '../support/codec.ts'
import { problemOf } from '../support/event-stream.ts'
import { test as baseTest } from '../support/fixtures.ts'
import { type PythonWorkerOptions, startPythonWorker } from '../support/python-worker.ts'
import { readiness } from '../support/readiness.ts'
import { UNDISTURBED } from '../support/undisturbed.ts'

const BATCH_SIZE = 3
const BATCHES = Array.from({ length: 6 }, (_, batch) =>
  Array.from({ length: BATCH_SIZE }, (_, word) => `word ${BATCH_SIZE * batch + word}`),
)
const ITEMS = toItems(BATCHES)

const test = baseTest
  .extend('startPython', { scope: 'file' }, ({ engine, catalog, cleanup }) => {
    return async (options: Partial<PythonWorkerOptions> = {}) => {
      const worker = await startPythonWorker({ address: engine.address, taskQueue: catalog, ...options })
      cleanup.defer(() => worker.stop())
    }
  })
  /** Starts a run whose activity publishes each batch when `permit` is called with its number. */
  .extend('startPublisher', { scope: 'file' }, ({ folder }) => async (service: Pick<Api, 'start'>) => {
    const permits = await mkdtemp(join(folder, 'permits-'))
    const { workflowId } = (await service.start('py_stream', { batches: BATCHES, permits })).body
    const permit = async (batch: number) => {
      const file = join(permits, `${batch}`)
      await writeFile(file, '')
      await until(`the activity publishes batch ${batch}`, () => !existsSync(file))
    }
    return { workflowId: String(workflowId), permit }
  })

test.concurrent('streams from Python: the readers of a killed replica continue at another one, and a run has one update per batch', async ({
  startService,
  startPython,
  startPublisher,
  client,
}) => {
  await startPython()
  const [killed, other] = await Promise.all([startService(), startService()])
  await Promise.all([readiness(killed), readiness(other)])
  const { workflowId, permit } = await startPublisher(other)
  const readers = [killed, killed, other, other].map((service) => {
    const places = [service]
    return readStream(() => places.shift() ?? other, `${workflowId}/stream`)
  })
  await Promise.all(readers.map((reader) => reader.first('workflow')))

  for (const batch of BATCHES.keys()) {
    if (batch === BATCHES.length / 2) void killed.kill()
    await permit(batch)
    await until('a reader has the batch', () => readers.at(-1)?.data().length === BATCH_SIZE * (batch + 1))
  }
  const expectedPolls = [...BATCHES.keys(), BATCHES.length].map((batch) => `portico-stream/${BATCH_SIZE * batch}`)
  await until('the next poll is open', async () => (await pollsOf(client, workflowId)).length > BATCHES.length)
  await other.post(`${workflowId}/signal/finish`)
  await Promise.all(readers.map(({ ended }) => ended))

  expect(readers.map((reader) => reader.data())).toEqual(readers.map(() => ITEMS))
  expect(readers.map(({ statuses }) => statuses.length > 1)).toEqual([true, true, false, false])
  expect(await pollsOf(client, workflowId)).toEqual(expectedPolls)
})

test.concurrent('streams from Python: encrypted items are readable through a service with the codec server of the worker', async ({
  engine,
  serve,
  startPython,
  startPublisher,
  cleanup,
}) => {
  const codec = await startCodec({ opaque: true })
  cleanup.defer(() => codec.close())
  const taskQueue = `encrypted-${crypto.randomUUID()}`
  await startPython({ address: engine.address, taskQueue, codecUrl: codec.url })
  const service = serve({ SERVICE_CATALOG_ID: taskQueue, ENGINE_CODEC_ENDPOINT: codec.url })
  const { workflowId, permit } = await startPublisher(service)
  const reader = readStream(() => service, `${workflowId}/stream`)

  for (const batch of BATCHES.keys()) await permit(batch)
  await until('the items have arrived', () => reader.data().length === ITEMS.length)
  await publish(service, workflowId, 'from a client')
  await service.post(`${workflowId}/signal/finish`)
  await reader.ended
  const withoutCodec = await serve().call('GET', `/workflow/${workflowId}/stream`)

  expect(reader.data()).toEqual([...ITEMS, 'from a client'])
  expect(reader.events.at(-1)).toMatchObject({ event: 'done', data: { complete: true } })
  expect(problemOf(withoutCodec).status).toBe(501)
})

test.concurrent('streams from Python: what is published while the engine is killed and restarted arrives once', async ({
  folder,
  serve,
  startPython,
  startPublisher,
  cleanup,
}) => {
  const engine = await startEngine({ dbFile: join(folder, 'engine.sqlite'), dynamicConfig: UNDISTURBED })
  cleanup.defer(() => engine.kill())
  const taskQueue = 'killed'
  await startPython({ address: engine.address, taskQueue })
  const service = serve({ ENGINE_ADDRESS: engine.address, SERVICE_CATALOG_ID: taskQueue })
  const { workflowId, permit } = await startPublisher(service)
  const reader = readStream(() => service, `${workflowId}/stream`)

  const permitAll = async (batches: number[]) => {
    for (const batch of batches) await permit(batch)
  }
  await permitAll([0])
  await reader.first('item')
  await permitAll([1])
  await engine.kill()
  await permitAll([2, 3])
  const restarted = await engine.restart()
  cleanup.defer(() => restarted.kill())
  await permitAll([4, 5])
  await until('the items have arrived', () => reader.data().length >= ITEMS.length)
  await service.post(`${workflowId}/signal/finish`)
  await reader.ended
  const later = readStream(() => service, `${workflowId}/stream`)
  await later.ended

  expect([reader.data(), later.data()]).toEqual([ITEMS, ITEMS])
  expect(reader.statuses).toEqual([200])
})

function toItems(batches: string[][]): unknown[] {
  return batches.flat().map((text) => ({ text }))
}
