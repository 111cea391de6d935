import { expect, test } from 'vitest'
import { createEngine } from '../../../src/service/engine/engine.ts'
import { HISTORY_START } from '../../../src/service/model/history-page.ts'
import type { Codec } from '../../../src/shared/temporal/payload.ts'
import { call, type EngineFixture, rejection } from './engine-fixture.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

const MEMO = { $idempotency: { key: 'key-1', request: 'request-1' } }

/** What requests with an `Idempotency-Key` rely on: the memo of the protocol, and ids that the engine recognizes. */
export function repeatedIds(fixture: EngineFixture): void {
  const request = (workflowName: string, args: unknown[] = []) => {
    return { workflowId: crypto.randomUUID(), workflowName, catalog: fixture.taskQueue, args }
  }

  test('start: the memo of the protocol is not encoded by the codec, and is described without it', async () => {
    const codec: Codec = {
      encode: async (payloads) => payloads.map(() => ({ metadata: { encoding: bytes('binary/x') }, data: bytes('?') })),
      decode: () => Promise.reject(new Error('the codec is not needed')),
    }
    const { transport } = fixture
    const engine = createEngine({ transport, namespace: 'default', maxPayloadBytes: 1000, codec })

    const run = await engine.start({ ...request('neverEnds'), options: { memo: { a: 1 } }, protocolMemo: MEMO }, call())
    const { memo } = await engine.describe(run, call())
    const values = { payloads: true, redacted: false }
    const { events } = await fixture.engine.events(
      run,
      { from: HISTORY_START, maxEvents: 1, waitMs: 0, values },
      call(),
    )

    expect(memo.get('$idempotency')).toEqual(MEMO.$idempotency)
    expect(Object.keys((events[0]?.memo ?? {}) as object)).toEqual(['a'])
    await fixture.engine.terminate(run, null, call())
  })

  test.for([
    ['continues as new', 'chain', {}],
    ['is retried by the engine', 'failRetryable', { retry: { maximumAttempts: 2, initialIntervalMs: 10 } }],
  ] as const)('start: a run that %s keeps the memo', async ([, workflowName, options]) => {
    const toStart = { ...request(workflowName, [{ links: 2 }]), options, protocolMemo: MEMO }
    const started = await fixture.engine.start(toStart, call())
    const { nextRunId } = await fixture.closed(started)

    const last = await fixture.engine.describe({ workflowId: started.workflowId, runId: nextRunId ?? '' }, call())

    expect([last.firstRunId, last.memo.get('$idempotency')]).toEqual([started.runId, MEMO.$idempotency])
  })

  test('start: the same request id is the same run while that is the latest, open or closed', async () => {
    const ofId = { ...request('waitForSignal'), requestId: crypto.randomUUID() }
    const run = await fixture.engine.start(ofId, call())

    const open = await fixture.engine.start(ofId, call())
    const other = await rejection(fixture.engine.start({ ...ofId, requestId: crypto.randomUUID() }, call()))
    await fixture.engine.signal(run, { name: 'finish', args: [] }, call())
    await fixture.closed(run)
    const closed = await fixture.engine.start(ofId, call())

    expect([open, closed]).toEqual([run, { ...run, endedStatus: 'completed' }])
    expect(other).toMatchObject({ error: 'WorkflowAlreadyStartedError', runId: run.runId })
  })
}
