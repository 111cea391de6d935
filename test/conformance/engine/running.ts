import Long from 'long'
import { expect, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { call, type EngineFixture, rejection } from './engine-fixture.ts'

/** Start, wait, read, describe. */
export function running(fixture: EngineFixture): void {
  test('start: returns the run, which is the first of its chain', async () => {
    const started = await fixture.start('echo', { a: 1 })

    expect(started.runId).toMatch(/^[0-9a-f-]{36}$/)
    expect(started.firstRunId).toBe(started.runId)
  })

  test('start: a payload that is too large for the engine is rejected before anything is sent', async () => {
    const workflowId = crypto.randomUUID()

    const rejected = await rejection(fixture.start('echo', 'x'.repeat(2 * 1024 * 1024), workflowId))

    expect(rejected).toMatchObject({ error: 'PayloadTooLargeError', source: 'gateway' })
    expect(await rejection(fixture.engine.describe({ workflowId }, call()))).toMatchObject({
      error: 'WorkflowNotFoundError',
    })
  })

  test('wait: ends when its signal aborts', async () => {
    const started = await fixture.start('neverEnds')
    const caller = new AbortController()
    const waiting = fixture.engine.wait(started, call(60_000, caller.signal))

    caller.abort()

    expect(await waiting).toBeNull()
    await fixture.engine.terminate(started, null, call())
  })

  test('wait: returns the outcome of each run of a continue-as-new chain', async () => {
    const first = await fixture.start('chain', { links: 2 })

    const { outcome, nextRunId } = await fixture.closed(first)
    const last = { workflowId: first.workflowId, runId: nextRunId ?? '' }
    const end = await fixture.closed(last)

    expect(outcome).toEqual({ status: 'continued' })
    expect(end).toEqual({ outcome: { status: 'completed', output: { links: 2, link: 2 } }, nextRunId: null })
    expect(await fixture.engine.read({ workflowId: first.workflowId }, call())).toMatchObject({
      runId: last.runId,
      firstRunId: first.runId,
      input: { links: 2, link: 2 },
    })
    expect(await fixture.engine.read(first, call())).toMatchObject({
      runId: first.runId,
      status: 'continued',
      input: { links: 2 },
    })
  })

  test('wait: a run that the engine retries has failed, and names the next run', async () => {
    const workflowId = crypto.randomUUID()
    const { runId } = await fixture.connection.workflowService.startWorkflowExecution({
      namespace: 'default',
      workflowId,
      workflowType: { name: 'retriedRun' },
      taskQueue: { name: fixture.taskQueue },
      input: {
        payloads: [{ metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('{"succeedsAt":2}') }],
      },
      requestId: crypto.randomUUID(),
      retryPolicy: { initialInterval: { nanos: 10_000_000 }, maximumAttempts: 3 },
    })

    const first = await fixture.closed({ workflowId, runId })
    const second = await fixture.closed({ workflowId, runId: first.nextRunId ?? '' })

    expect(first.outcome).toMatchObject({ status: 'failed', error: { name: 'Flaky', message: 'run 1 fails' } })
    expect(second).toEqual({ outcome: { status: 'completed', output: 2 }, nextRunId: null })
  })

  test('read: reads a history longer than one page, for the latest run and for a pinned run', async () => {
    const started = await fixture.start('manySteps', { n: 12 })
    await fixture.closed(started)

    const unpinned = await fixture.engine.read({ workflowId: started.workflowId }, call())
    const pinned = await fixture.engine.read(started, call())

    const expected = {
      runId: started.runId,
      status: 'completed',
      input: { n: 12 },
      closing: { outcome: { status: 'completed', output: 12 }, nextRunId: null },
    }
    expect(unpinned).toMatchObject(expected)
    expect(pinned).toMatchObject(expected)
  })

  test.for([2, 12])('read: a reset run of %i steps has its own run id, not that of its base', async (n) => {
    const base = await fixture.start('manySteps', { n })
    await fixture.closed(base)
    const { runId } = await fixture.connection.workflowService.resetWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId: base.workflowId, runId: base.runId },
      workflowTaskFinishEventId: Long.fromNumber(4),
      requestId: crypto.randomUUID(),
    })
    await fixture.closed({ workflowId: base.workflowId, runId })

    const latest = await fixture.engine.read({ workflowId: base.workflowId }, call())

    expect(latest).toMatchObject({ runId, status: 'completed', input: { n }, closing: { outcome: { output: n } } })
  })

  test('describe: reads how a closed run ended', async () => {
    const [long, open] = await Promise.all([fixture.start('manySteps', { n: 12 }), fixture.start('neverEnds')])
    await fixture.closed(long)

    const [closed, running] = await Promise.all([long, open].map((run) => fixture.engine.describe(run, call())))
    await fixture.engine.terminate(open, 'enough', call())
    const terminated = await fixture.engine.describe(open, call())

    expect(await closed?.readEnd?.(call())).toEqual({ outcome: { status: 'completed', output: 12 }, nextRunId: null })
    expect(running).not.toHaveProperty('readEnd')
    expect(await terminated.readEnd?.(call())).toMatchObject({ outcome: { status: 'terminated' } })
  })

  test('read: returns the reason of a cancellation, even from far back in the history', async () => {
    const started = await fixture.start('cleansUp', {})
    await until('it has begun', async () => (await fixture.engine.describe(started, call())).historyLength > 3)
    await fixture.engine.cancel(started, { reason: 'enough', pinned: false }, call())
    await fixture.closed(started)

    const { closing } = await fixture.engine.read(started, call())

    expect(closing?.outcome).toEqual({
      status: 'canceled',
      error: {
        name: 'CanceledFailure',
        message: 'The workflow was canceled: enough',
        retryable: false,
        activityId: null,
        details: [],
        cause: null,
      },
    })
  })

  test('read: returns the memo that a workflow has written', async () => {
    const started = await fixture.start('saysTrace', { trace: { remote: 'https://traces.example/x' } })
    await fixture.closed(started)

    expect((await fixture.engine.read(started, call())).memo.get('trace')).toEqual({
      remote: 'https://traces.example/x',
    })
    expect((await fixture.engine.describe(started, call())).memo.get('trace')).toEqual({
      remote: 'https://traces.example/x',
    })
  })

  test('read: a child run has its parent', async () => {
    const workflowId = crypto.randomUUID()
    const parent = await fixture.start('parent', { child: 'echo', input: 1, workflowId })
    await fixture.closed(parent)

    const expected = { workflowId: parent.workflowId, runId: parent.runId }
    expect((await fixture.engine.read({ workflowId }, call())).parent).toEqual(expected)
    expect((await fixture.engine.describe({ workflowId }, call())).parent).toEqual(expected)
    expect((await fixture.engine.describe(parent, call())).parent).toBeNull()
  })

  test('describe: returns names, times and history length of a closed run', async () => {
    const started = await fixture.start('nothing')
    await fixture.closed(started)

    const described = await fixture.engine.describe(started, call())

    expect(described).toMatchObject({
      workflowName: 'nothing',
      catalog: fixture.taskQueue,
      status: 'completed',
      historyLength: 5,
    })
    expect(described.completedAt?.getTime()).toBeGreaterThanOrEqual(
      described.startedAt?.getTime() ?? Number.POSITIVE_INFINITY,
    )
  })

  test('lastPolledAt: returns the time of the last poll, or null for a task queue without a worker', async () => {
    const started = await fixture.start('nothing')
    await fixture.closed(started)
    const { startedAt } = await fixture.engine.describe(started, call())

    // The worker polls again after it has taken the task of the run.
    await until('a worker has polled since the start', async () => {
      const polledAt = await fixture.engine.lastPolledAt(fixture.taskQueue, call())
      return polledAt !== null && startedAt !== null && polledAt >= startedAt
    })
    expect(await fixture.engine.lastPolledAt(crypto.randomUUID(), call())).toBeNull()
  })
}
