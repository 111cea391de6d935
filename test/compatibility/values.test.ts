/** Samples whose values are more than JSON: encrypted, stored elsewhere, bytes, with a converter of their own. */
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RunningStore, startStore } from '../support/external-storage.ts'
import { startWorker } from '../support/worker.ts'
import * as activities from './activities.ts'
import { TRANSPORTS, type TransportName, useSamples } from './clients.ts'
import { completed, outcomeOf } from './sample-client.ts'

const workflowsPath = new URL('./workflows.ts', import.meta.url)
const payloadConverterPath = fileURLToPath(new URL('./dates.ts', import.meta.url))

const STORED_FROM_BYTES = 2000

let store: RunningStore

beforeAll(async () => {
  store = await startStore({ thresholdBytes: STORED_FROM_BYTES, opaque: true })
})

afterAll(() => store?.stop())

for (const transport of TRANSPORTS) {
  describe(`encoded and stored values over ${transport}`, () => describeEncoded(transport))
  describe(`converted values over ${transport}`, () => describeConverted(transport))
}

function describeEncoded(transport: TransportName): void {
  const samples = useSamples({
    transport,
    startWorker: (address, taskQueue) =>
      startWorker({ address, taskQueue, workflowsPath, activities, options: { dataConverter: store.dataConverter } }),
    dataConverter: () => store.dataConverter,
    env: () => ({ ENGINE_CODEC_ENDPOINT: store.codec.url }),
  })

  test('encryption: with the codec server, arguments and results are those of the workflow', async () => {
    expect(await outcomeOf(samples(), 'welcome', 'Ada')).toEqual(completed('Welcome, Ada.'))
  })

  test('encryption: the argument is encoded in the history', async () => {
    const { http, client } = samples()
    const run = await http.start('welcome', 'in-secret')
    await run.result()

    const { events } = await client.workflow.getHandle(run.workflowId).fetchHistory()

    const payloads = events?.flatMap(
      ({ workflowExecutionStartedEventAttributes: started }) => started?.input?.payloads ?? [],
    )
    expect(payloads?.map(({ metadata }) => Buffer.from(metadata?.encoding ?? '').toString())).toEqual(['binary/opaque'])
  })

  test('external storage: a large result is read through the codec server', async () => {
    expect(await outcomeOf(samples(), 'repeat', 'ab', 5000)).toEqual(completed('ab'.repeat(5000)))
  })
}

function describeConverted(transport: TransportName): void {
  const dataConverter = { payloadConverterPath }
  const samples = useSamples({
    transport,
    startWorker: (address, taskQueue) =>
      startWorker({ address, taskQueue, workflowsPath, activities, options: { dataConverter } }),
    dataConverter: () => dataConverter,
  })

  test('custom converter over JSON: HTTP sends and gets the JSON that the converter writes', async () => {
    const { http, client, catalog: taskQueue } = samples()
    const date = new Date(0)

    const overHttp = await (await http.start('describeDate', { $date: date.toJSON() })).result()
    const bySdk = await client.workflow.execute('describeDate', {
      taskQueue,
      workflowId: crypto.randomUUID(),
      args: [date],
    })

    expect(bySdk).toEqual({ isDate: true, is: 'object', next: new Date(86_400_000) })
    expect(overHttp).toEqual(completed({ isDate: true, is: 'object', next: { $date: '1970-01-02T00:00:00.000Z' } }))
  })

  test('custom converter over JSON: plain JSON arrives as it is', async () => {
    expect(await (await samples().http.start('quota', { perDay: 4 })).result()).toEqual(completed(4))
  })
}
