import { expect, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { createEngineClock, createPayloads } from '../../../src/service/engine/context.ts'
import { createEngine } from '../../../src/service/engine/engine.ts'
import { createPollSlots } from '../../../src/service/engine/polls.ts'
import { createRpc } from '../../../src/service/engine/rpc.ts'
import { findEnded, readClosingNow } from '../../../src/service/engine/waits/follow-run.ts'
import type { RunRef } from '../../../src/shared/wire/run-ref.ts'
import { call, type EngineFixture } from './engine-fixture.ts'

const RUNS = 15

/** Waits that share polls, and the query for runs that have ended. */
export function waiting(fixture: EngineFixture): void {
  /** An engine whose waits share two polls. */
  function withTwoPolls() {
    const { transport } = fixture
    return createEngine({ transport, namespace: 'default', maxPayloadBytes: 1000, codec: null, maxPolls: 2 })
  }

  async function pause({ workflowId, runId }: RunRef): Promise<void> {
    await fixture.connection.workflowService.pauseWorkflowExecution({
      namespace: 'default',
      workflowId,
      runId,
      identity: 'test',
    })
  }

  test('wait: many runs that share few polls each return their own end', async () => {
    const engine = withTwoPolls()
    const runs = await Promise.all(Array.from({ length: RUNS }, () => fixture.start('waitForSignal')))
    const waiting = runs.map((run) => engine.wait(run, call(60_000)))

    await Promise.all(runs.map((run, number) => fixture.engine.signal(run, { name: 'finish', args: [number] }, call())))

    const closings = await Promise.all(waiting)
    expect(closings.map((closing) => closing?.outcome)).toEqual(
      runs.map((_, number) => ({ status: 'completed', output: [number] })),
    )
  })

  test('wait: several waits for one run return the same end', async () => {
    const engine = withTwoPolls()
    const run = await fixture.start('waitForSignal')
    const waiting = [1, 2, 3].map(() => engine.wait(run, call(60_000)))

    await fixture.engine.signal(run, { name: 'finish', args: [] }, call())

    const [first, ...others] = await Promise.all(waiting)
    expect(first?.outcome.status).toBe('completed')
    expect(others).toEqual([first, first])
  })

  test('wait: a paused run without a poll has not ended', async () => {
    const engine = withTwoPolls()
    const runs = await Promise.all(Array.from({ length: RUNS }, () => fixture.start('neverEnds')))
    await Promise.all(runs.map(pause))

    const closings = await Promise.all(runs.map((run) => engine.wait(run, call(3000))))

    expect(closings).toEqual(runs.map(() => null))
    await Promise.all(runs.map((run) => fixture.engine.terminate(run, null, call())))
  })

  test('findEnded, readClosingNow: agree on the runs that have ended, however they did', async () => {
    const { transport } = fixture
    const payloads = createPayloads({ codec: null, maxBytes: 1000 })
    const [rpc, clock, polls] = [createRpc(transport), createEngineClock(), createPollSlots(1000)]
    const context = { rpc, features: transport.features, namespace: 'default', payloads, clock, polls }
    const [completed, failed, continued, terminated, canceled, running, paused] = await Promise.all([
      fixture.start('nothing'),
      fixture.start('failWithCauses'),
      fixture.start('chain', { links: 2 }),
      fixture.start('neverEnds'),
      fixture.start('neverEnds'),
      fixture.start('neverEnds'),
      fixture.start('neverEnds'),
    ])
    const ended = [completed, failed, continued, terminated, canceled]
    await fixture.engine.terminate(terminated, null, call())
    await fixture.engine.cancel(canceled, { reason: null, pinned: true }, call())
    await pause(paused)
    await Promise.all(ended.map((run) => fixture.closed(run)))

    const listed = await until('all of them are listed', async () => {
      const found = await findEnded(context, [...ended, running, paused])
      return found.size >= ended.length ? found : null
    })

    expect(listed).toEqual(new Set(ended.map(({ runId }) => runId)))
    const read = await Promise.all([...ended, running, paused].map((run) => readClosingNow(context, run, call())))
    expect(read.map((closing) => closing?.outcome.status ?? null)).toEqual([
      ...['completed', 'failed', 'continued', 'terminated', 'canceled'],
      ...[null, null],
    ])
    await Promise.all([running, paused].map((run) => fixture.engine.terminate(run, null, call())))
  })
}
