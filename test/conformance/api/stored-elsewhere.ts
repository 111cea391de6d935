import { Client } from '@temporalio/client'
import { describe, expect } from 'vitest'
import type { Api } from '../../support/api.ts'
import { eventsIn } from '../../support/event-stream.ts'
import { type RunningStore, startStore } from '../../support/external-storage.ts'
import { test } from '../../support/fixtures.ts'
import { readiness } from '../../support/readiness.ts'
import { nodesIn } from '../../support/trace-nodes.ts'
import { withUnusedSecrets } from '../../support/variables.ts'
import { type ApiFixture, anId, operatorApi, type Serve } from './api-fixture.ts'

const LARGE = 'x'.repeat(600)

/** A worker that encodes its payloads and keeps the large ones outside the engine, with a codec server and without. */
export function storedElsewhere(api: () => ApiFixture, serve: Serve): void {
  describe('stored elsewhere', () => {
    const catalog = `stored-elsewhere-${crypto.randomUUID()}`
    let store: RunningStore
    let withCodec: Api

    test.beforeAll(async ({ engine: { address, httpUrl }, startWorker, cleanup }) => {
      store = await startStore({ thresholdBytes: 500, opaque: true })
      cleanup.defer(() => store.stop())
      await startWorker({ taskQueue: catalog, options: { dataConverter: store.dataConverter } })
      const env = {
        PATH: process.env.PATH ?? '',
        SERVICE_CATALOG_ID: catalog,
        SERVICE_PORT: '0',
        ENGINE_CODEC_ENDPOINT: store.codec.url,
      }
      const server = await serve({ ...withUnusedSecrets(env), ENGINE_ADDRESS: address, ENGINE_HTTP_URL: httpUrl ?? '' })
      cleanup.defer(() => server.stop())
      withCodec = operatorApi({ url: server.url })
      await readiness(withCodec)
    })

    test('stored elsewhere: with a codec server that has /download result, query, update and trace have the values', async () => {
      const { body: ran } = await withCodec.run('bigOutput', { bytes: 600 })
      const { body: log } = await withCodec.get(`${ran.workflowId}/trace-log`)
      const { body: capabilities } = await withCodec.call('GET', '/capabilities')
      const { body: run } = await withCodec.start('messages')
      const set = await withCodec.post(`${run.workflowId}/update/echo`, { payload: LARGE })
      await withCodec.post(`${run.workflowId}/update/set`, { payload: LARGE })
      const state = await withCodec.post(`${run.workflowId}/query/state`)

      expect(ran).toMatchObject({ status: 'completed', input: { bytes: 600 }, output: LARGE })
      expect(nodesIn(log.data)).toMatchObject([{ input: { bytes: 600 }, output: LARGE }])
      expect([set.body, state.body.value]).toEqual([[LARGE], LARGE])
      expect(capabilities.features.codec).toBe(true)
    })

    test('stored elsewhere: without a codec server an output is an error with the ids and its size, and a trace has a warning', async () => {
      const { service } = api()
      const { body: ran } = await withCodec.run('bigOutput', { bytes: 600 })
      const { workflowId, runId } = ran

      const { status, body } = await service.get(`${workflowId}/result`)
      const { body: log } = await service.get(`${workflowId}/trace-log`)

      expect([status, body]).toMatchObject([
        501,
        { error: 'NotSupportedError', workflowId, runId, workflowStatus: 'completed', sizeBytes: expect.any(Number) },
      ])
      expect(body.sizeBytes).toBeGreaterThan(600)
      expect(nodesIn(log.data)).toMatchObject([
        { output: null, attributes: { status: 'completed', storedElsewhere: true } },
      ])
    })

    test('stored elsewhere: without a codec server run answers the same, as an event too', async ({ startWorker }) => {
      const { service } = api()
      const request = { workflowName: 'bigOutput', input: { bytes: 600 }, catalog: `${catalog}-plain` }
      const plainStore = await startStore({ thresholdBytes: 500 })
      const plainWorker = await startWorker({
        taskQueue: request.catalog,
        options: { dataConverter: plainStore.dataConverter },
      })

      const { status, body } = await service.post('run', request)
      const { text } = await service.post('run', request, { Accept: 'text/event-stream' })
      const { body: read } = await service.get(`${body.workflowId}/result`)
      const ids = { workflowId: expect.any(String), runId: expect.any(String) }

      const rejection = { status: 501, error: 'NotSupportedError', workflowStatus: 'completed', sizeBytes: 629, ...ids }
      expect([status, body]).toMatchObject([501, rejection])
      expect(read).toMatchObject({ ...rejection, workflowId: body.workflowId, runId: body.runId })
      expect(eventsIn(text)).toMatchObject([{ event: 'started' }, { event: 'server_error', data: rejection }])
      await plainWorker.stop()
      await plainStore.stop()
    })

    test('stored elsewhere: a catalog whose definition is stored elsewhere counts as missing', async () => {
      const { service, client } = api()
      const taskQueue = anId()
      const plainTaskQueue = await startStore({ thresholdBytes: 500 })
      const storing = new Client({ connection: client.connection, dataConverter: plainTaskQueue.dataConverter })
      const definition = { workflows: [{ name: 'greet', description: LARGE }], workflowNames: { greet: 'greet' } }
      const handle = await storing.workflow.start('$catalog', {
        workflowId: `$catalog:${taskQueue}`,
        taskQueue: '$catalog',
        startDelay: '1 day',
        args: [definition],
        memo: { workflowNames: { greet: 'greet' }, hash: 'a', traces: false },
      })

      const { status, body } = await service.get(`catalog/${taskQueue}`)

      expect([status, body.error]).toEqual([404, 'CatalogNotFoundError'])
      await Promise.all([handle.terminate(), plainTaskQueue.stop()])
    })
  })
}
