import { expect, test } from 'vitest'
import type { SignaledRun } from '../../../src/service/model/engine.ts'
import type { WorkflowOptions } from '../../../src/service/model/workflow-options.ts'
import { call, type EngineFixture, rejection } from './engine-fixture.ts'

interface Sent {
  workflowId?: string
  workflowName?: string
  startArgs?: unknown[]
  args?: unknown[]
  options?: WorkflowOptions
}

/** A start and a signal in one call. */
export function signalWithStart(fixture: EngineFixture): void {
  function send(handler: string, sent: Sent = {}): Promise<SignaledRun> {
    const { workflowId = crypto.randomUUID(), workflowName = 'messages', startArgs = [null], args = [] } = sent
    const request = { workflowId, workflowName, catalog: fixture.taskQueue, args: startArgs }
    const options = sent.options && { options: sent.options }
    return fixture.engine.signalWithStart({ ...request, ...options }, { name: handler, args }, call())
  }

  async function output(run: { workflowId: string; runId: string }): Promise<unknown> {
    const { outcome } = await fixture.closed(run)
    return outcome.status === 'completed' ? outcome.output : outcome.status
  }

  test('signal-with-start: keeps the arguments of the start and of the signal apart, however many there are', async () => {
    const runs = await Promise.all([
      send('finish', { workflowName: 'waitForSignal', startArgs: [1, [2]], args: [3, 4] }),
      send('finish', { workflowName: 'waitForSignal', startArgs: [] }),
      send('finish', { workflowName: 'waitForSignal', startArgs: [null] }),
    ])

    expect(await Promise.all(runs.map(output))).toEqual([[3, 4], [], []])
    const inputs = await Promise.all(runs.map((run) => fixture.engine.input(run, call())))
    expect(inputs).toEqual([[1, [2]], [], [null]].map((args) => ({ workflowName: 'waitForSignal', args })))
  })

  test('signal-with-start: starts a new run if the latest run of the id is closed, unless the reuse policy says otherwise', async () => {
    const closed = await fixture.start('nothing')
    await fixture.closed(closed)
    const { workflowId } = closed

    const options = { workflowIdReusePolicy: 'reject-duplicate' } as const
    const rejected = await rejection(send('finish', { workflowId, options }))
    const next = await send('finish', { workflowId })

    expect(rejected).toMatchObject({ error: 'WorkflowAlreadyStartedError', workflowId, runId: closed.runId })
    expect([next.started, next.runId === closed.runId]).toEqual([true, false])
  })

  test('signal-with-start: of several concurrent calls one starts the run, and all signals arrive', async () => {
    const workflowId = crypto.randomUUID()

    const runs = await Promise.all([1, 2, 3, 4].map((value) => send('add', { workflowId, args: [value] })))
    await send('finish', { workflowId })

    expect(runs.filter(({ started }) => started).length).toBe(1)
    expect(new Set(runs.map(({ runId }) => runId)).size).toBe(1)
    const [{ runId = '' } = {}] = runs
    const { gathered } = (await output({ workflowId, runId })) as { gathered: number[] }
    expect(gathered.sort()).toEqual([1, 2, 3, 4])
  })

  test('signal-with-start: options and headers are recorded with the run', async () => {
    const options = { memo: { order: 17 }, headers: { tenant: 7 }, runTimeoutMs: 60_000, summary: 'an order' }

    const run = await send('finish', { workflowName: 'waitForSignal', options })

    const { workflowService } = fixture.connection
    const { workflowId, runId } = run
    const read = { namespace: 'default', execution: { workflowId, runId } }
    const { history } = await workflowService.getWorkflowExecutionHistory(read)
    const [start, signal] = history?.events ?? []
    const attributes = start?.workflowExecutionStartedEventAttributes
    const text = (data: Uint8Array | null | undefined) => new TextDecoder().decode(data ?? new Uint8Array())
    expect(text(attributes?.memo?.fields?.order?.data)).toBe('17')
    expect(text(attributes?.header?.fields?.tenant?.data)).toBe('7')
    expect(Number(attributes?.workflowRunTimeout?.seconds)).toBe(60)
    expect(text(start?.userMetadata?.summary?.data)).toBe('"an order"')
    const signaled = signal?.workflowExecutionSignaledEventAttributes
    expect(text(signaled?.header?.fields?.tenant?.data)).toBe('7')
  })

  test('signal-with-start: an option that the engine rejects is reported with its pointer, and nothing is started', async () => {
    const workflowId = crypto.randomUUID()
    const options = { searchAttributes: { Nope: { type: 'keyword', value: 'x' } } } as const

    const rejected = await rejection(send('add', { workflowId, options }))

    expect(rejected).toMatchObject({ error: 'ValidationError', issues: [{ path: '/searchAttributes/Nope' }] })
    expect((await rejection(fixture.engine.describe({ workflowId }, call()))).error).toBe('WorkflowNotFoundError')
  })

  test('signal-with-start: the size limit holds for the payloads of both together', async () => {
    const half = 'x'.repeat(1_100_000)

    const rejected = await rejection(send('add', { startArgs: [half], args: [half] }))

    expect(rejected).toMatchObject({ error: 'PayloadTooLargeError', source: 'gateway' })
  })
}
