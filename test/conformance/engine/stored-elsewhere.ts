import { Client } from '@temporalio/client'
import { describe, expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { remoteCodec } from '../../../src/service/engine/codec.ts'
import { createEngine } from '../../../src/service/engine/engine.ts'
import type { Transport } from '../../../src/service/engine/transport/transport.ts'
import type { Engine } from '../../../src/service/model/engine.ts'
import type { RunRef } from '../../../src/shared/wire/run-ref.ts'
import type { TraceEntry } from '../../../src/shared/wire/trace/entry.ts'
import { startCodec } from '../../support/codec.ts'
import { type RunningStore, startStore } from '../../support/external-storage.ts'
import { test } from '../../support/fixtures.ts'
import { call, type MakeTransport, rejection } from './engine-fixture.ts'

const LARGE = 'x'.repeat(600)
// The JSON string, the metadata of its payload, and the protobuf framing.
const LARGE_BYTES = 629

/** Values that the SDK's external storage keeps outside the engine. The engine has only a reference to them. */
export function describeStoredElsewhere(name: string, makeTransport: MakeTransport): void {
  describe.concurrent(`engine over ${name}: values stored elsewhere`, () => {
    const taskQueue = `stored-elsewhere-${name}-${crypto.randomUUID()}`
    let store: RunningStore
    let transport: Transport
    let client: Client
    let without: Engine
    let withCodec: Engine

    test.beforeAll(async ({ engine, connection, startWorker, cleanup }) => {
      store = await startStore({ thresholdBytes: 500 })
      cleanup.defer(() => store.stop())
      await startWorker({ taskQueue, options: { dataConverter: store.dataConverter } })
      client = new Client({ connection, dataConverter: store.dataConverter })
      transport = makeTransport(engine)
      cleanup.defer(() => transport.close())
      const options = { transport, namespace: 'default', maxPayloadBytes: 1_000_000 }
      without = createEngine({ ...options, codec: null })
      withCodec = createEngine({ ...options, codec: remoteCodec({ endpoint: store.codec.url, namespace: 'default' }) })
    })

    /** Starts a run with a client that stores large inputs elsewhere too. */
    async function start(workflowName: string, ...args: unknown[]): Promise<RunRef> {
      const workflowId = crypto.randomUUID()
      const { firstExecutionRunId: runId } = await client.workflow.start(workflowName, { args, taskQueue, workflowId })
      return { workflowId, runId }
    }
    async function ended(workflowName: string, ...args: unknown[]): Promise<RunRef> {
      const run = await start(workflowName, ...args)
      await client.workflow
        .getHandle(run.workflowId)
        .result()
        .catch(() => {})
      return run
    }
    async function entriesOf(engine: Engine, run: RunRef): Promise<TraceEntry[]> {
      const entries: TraceEntry[] = []
      for await (const entry of engine.readEntries(run, call())) entries.push(entry)
      return entries
    }

    test('stored elsewhere: an output has its size, an input is null', async () => {
      const run = await ended('echo', LARGE)
      const outcome = { status: 'completed', output: null, storedElsewhere: { sizeBytes: LARGE_BYTES } }

      expect(await without.wait(run, call())).toEqual({ outcome, nextRunId: null })
      expect(await without.read(run, call())).toMatchObject({ input: null, closing: { outcome } })
      expect((await without.input(run, call())).args).toEqual([null])
    })

    test('stored elsewhere: of several arguments only the large one is null', async () => {
      const run = await start('several', 1, LARGE)

      expect((await without.input(run, call())).args).toEqual([1, null])
    })

    test('stored elsewhere: a codec server with /download returns input and output', async () => {
      const run = await ended('several', 1, LARGE)

      expect(await withCodec.read(run, call())).toMatchObject({
        input: [1, LARGE],
        closing: { outcome: { output: [1, LARGE] } },
      })
    })

    test('stored elsewhere: a query and an update are carried out, and rejected with their ids without a codec server', async () => {
      const { workflowId, runId } = await start('messages')
      const rejected = { error: 'NotSupportedError', workflowId, sizeBytes: expect.any(Number) }

      expect(
        await rejection(without.update({ workflowId }, { name: 'echo', args: [LARGE] }, 'an-id', call())),
      ).toMatchObject({ ...rejected, runId, updateId: 'an-id' })
      await withCodec.update({ workflowId }, { name: 'set', args: [LARGE] }, 'another', call())
      expect(await rejection(without.query({ workflowId }, { name: 'state', args: [] }, call()))).toMatchObject(
        rejected,
      )
      expect(await withCodec.query({ workflowId }, { name: 'state', args: [] }, call())).toEqual({
        gathered: [],
        value: LARGE,
      })
      expect(await withCodec.update({ workflowId }, { name: 'echo', args: [LARGE] }, 'third', call())).toEqual([LARGE])
    })

    test('stored elsewhere: trace entries are marked if their value is missing, and only then', async () => {
      const run = await ended('everyKind', LARGE)

      const entries = await entriesOf(without, run)
      const large = entries.filter(({ kind }) => kind !== 'timer' && kind !== 'child_workflow')
      const children = entries.filter(
        ({ kind, input, output }) => kind === 'child_workflow' && (input ?? output) !== undefined,
      )

      const kinds = large.map(({ kind, phase }) => `${kind} ${phase}`)
      expect(kinds).toEqual(['workflow began', 'step began', 'step ended', 'workflow ended'])
      for (const { input = null, output = null, attributes } of [...large, ...children])
        expect({ input, output, storedElsewhere: attributes?.storedElsewhere }).toEqual({
          input: null,
          output: null,
          storedElsewhere: true,
        })
      for (const { attributes } of entries.filter(({ kind }) => kind === 'timer'))
        expect(attributes?.storedElsewhere).toBeUndefined()
      expect(JSON.stringify(entries)).not.toContain('claimData')
    })

    test('stored elsewhere: trace entries have the values with a codec server with /download', async () => {
      const run = await ended('everyKind', LARGE)

      const entries = await entriesOf(withCodec, run)

      expect(entries.filter(({ input, output }) => input === LARGE || output === LARGE).length).toBeGreaterThanOrEqual(
        5,
      )
      expect(JSON.stringify(entries)).not.toContain('storedElsewhere')
    })

    test('stored elsewhere: memo and failure details count as absent', async () => {
      const trace = { local: `/${LARGE}` }
      const announced = await ended('saysTrace', { trace })
      const failed = await ended('olderFails', { trace })

      expect((await without.describe(announced, call())).memo.get('trace')).toBeUndefined()
      expect(await without.read(failed, call())).toMatchObject({
        closing: { outcome: { error: { name: 'BadInput' } } },
      })
      expect((await without.read(failed, call())).closing).not.toHaveProperty('trace')
      expect((await withCodec.describe(announced, call())).memo.get('trace')).toEqual(trace)
      expect((await withCodec.read(failed, call())).closing?.trace).toEqual({ destinations: trace })
    })

    test('stored elsewhere: details of a heartbeat are null without a codec server', async () => {
      const run = await start('reportsProgress', { details: { text: LARGE } })
      const heartbeats = (engine: Engine) =>
        until('the heartbeat has arrived', async () => (await engine.describe(run, call())).heartbeats)

      expect(await (await heartbeats(without)).decode()).toEqual([null])
      expect(await (await heartbeats(withCodec)).decode()).toMatchObject([{ text: LARGE }])
      await without.terminate(run, null, call())
    })

    test('stored elsewhere: a codec server without the value or without /download makes no difference', async () => {
      const [other, plain] = await Promise.all([startStore({ thresholdBytes: 500 }), startCodec()])
      const run = await ended('echo', LARGE)

      for (const { url } of [other.codec, plain]) {
        const codec = remoteCodec({ endpoint: url, namespace: 'default' })
        const engine = createEngine({ transport, namespace: 'default', maxPayloadBytes: 1_000_000, codec })
        expect(await engine.read(run, call())).toMatchObject({
          input: null,
          closing: { outcome: { output: null, storedElsewhere: { sizeBytes: LARGE_BYTES } } },
        })
      }
      await Promise.all([other.stop(), plain.close()])
    })
  })
}
