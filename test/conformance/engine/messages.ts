import { Client } from '@temporalio/client'
import { describe, expect, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import type { Started } from '../../../src/domain/engine.ts'
import type { TraceEntry } from '../../../src/protocol/trace/entry.ts'
import { call, engineFixture, type MakeTransport, refusal, UNANSWERED_MS } from './engine-fixture.ts'

/** Signal, query, update, cancel, terminate and the trace. */
export function describeMessages(name: string, makeTransport: MakeTransport): void {
  describe.concurrent(`engine over ${name}: messages`, () => {
    const fixture = engineFixture(makeTransport)
    const query = (run: Started, handler: string, args: unknown[] = [], timeoutMs = 10_000) =>
      fixture.engine.query(run, { name: handler, args }, call(timeoutMs))
    const update = (run: Started, handler: string, args: unknown[] = [], timeoutMs = 10_000) =>
      fixture.engine.update(run, { name: handler, args }, crypto.randomUUID(), call(timeoutMs))
    const end = (run: Started) => fixture.engine.terminate(run, null, call())

    test('signal: accepts any number of arguments and returns the run that received it', async () => {
      const started = await fixture.start('waitForSignal')

      const { runId } = await fixture.engine.signal(
        { workflowId: started.workflowId },
        { name: 'finish', args: [1, null, { a: 'b' }] },
        call(),
      )

      expect(runId).toBe(started.runId)
      expect((await fixture.closed(started)).outcome).toMatchObject({ output: [1, null, { a: 'b' }] })
    })

    test('query: returns the value of the handler, or null if it returns nothing', async () => {
      const run = await fixture.start('messages')

      expect(await query(run, 'echo', [1, 'b'])).toEqual([1, 'b'])
      expect(await query(run, 'void')).toBeNull()
      await end(run)
    })

    test('query: a handler that throws is QueryFailedError, a missing one is HandlerNotFoundError with the names available', async () => {
      const run = await fixture.start('messages')

      expect(await refusal(query(run, 'throws'))).toMatchObject({
        error: 'QueryFailedError',
        message: expect.stringContaining('does not want to'),
      })
      expect(await refusal(query(run, 'nope'))).toMatchObject({
        error: 'HandlerNotFoundError',
        available: expect.arrayContaining(['state', 'echo']),
      })
      expect((await refusal(query(run, 'nope'))).available?.some((known) => known.startsWith('__'))).toBe(false)
      await end(run)
    })

    test('query: works on a closed run', async () => {
      const run = await fixture.start('messages')
      await fixture.engine.signal(run, { name: 'add', args: [7] }, call())
      await fixture.engine.signal(run, { name: 'finish', args: [] }, call())
      await fixture.closed(run)

      expect(await query(run, 'state')).toEqual({ gathered: [7], value: null })
    })

    test('query and update: without a worker they are DeadlineExceededError', async () => {
      const run = await fixture.engine.start(
        { workflowId: crypto.randomUUID(), workflowName: 'x', catalog: 'nobody', args: [null] },
        call(),
      )
      const { workflowId, runId } = run

      expect(await refusal(query(run, 'state', [], UNANSWERED_MS))).toMatchObject({
        error: 'DeadlineExceededError',
        workflowId,
      })
      expect(
        await refusal(
          fixture.engine.update({ workflowId }, { name: 'set', args: [] }, 'update-1', call(UNANSWERED_MS)),
        ),
      ).toMatchObject({ error: 'DeadlineExceededError', workflowId, runId, updateId: 'update-1' })
      await end(run)
    })

    test('query and update: a run whose workflow task keeps failing is not ready', async () => {
      const run = await fixture.start('failTask')
      await until(
        'three tasks have failed',
        () => refusal(query(run, 'state', [], 1000)).then(({ error }) => error === 'WorkflowNotReadyError'),
        { timeoutMs: 40_000 },
      )

      expect(await refusal(update(run, 'set'))).toMatchObject({ error: 'WorkflowNotReadyError' })
      await end(run)
    })

    test('query and update: a paused run is not ready', async () => {
      const run = await fixture.start('messages')
      await query(run, 'state')
      const { workflowId, runId } = run
      await fixture.connection.workflowService.pauseWorkflowExecution({
        namespace: 'default',
        workflowId,
        runId,
        requestId: crypto.randomUUID(),
      })

      expect(await refusal(query(run, 'state'))).toMatchObject({
        error: 'WorkflowNotReadyError',
        workflowStatus: 'paused',
      })
      expect(await refusal(update(run, 'set'))).toMatchObject({
        error: 'WorkflowNotReadyError',
        workflowStatus: 'paused',
      })
      await end(run)
    })

    test('update: returns the value of the handler, or null if it returns nothing', async () => {
      const run = await fixture.start('messages')

      expect(await update(run, 'set', ['on'])).toEqual({ before: null, after: 'on' })
      expect(await update(run, 'void')).toBeNull()
      await end(run)
    })

    test('update: a handler that throws and a validator that rejects are UpdateFailedError, a missing handler is HandlerNotFoundError', async () => {
      const run = await fixture.start('messages')

      expect(await refusal(update(run, 'fails'))).toMatchObject({
        error: 'UpdateFailedError',
        message: expect.stringContaining('the update refuses'),
      })
      expect(await refusal(update(run, 'validated', [-1]))).toMatchObject({
        error: 'UpdateFailedError',
        message: expect.stringContaining('-1 is not positive'),
      })
      expect(await refusal(update(run, 'nope'))).toMatchObject({
        error: 'HandlerNotFoundError',
        available: expect.arrayContaining(['set', 'validated']),
      })
      await end(run)
    })

    test('update: the same update id is carried out once', async () => {
      const run = await fixture.start('messages')
      const send = (value: string) => fixture.engine.update(run, { name: 'set', args: [value] }, 'the-same', call())

      const first = await send('a')
      const second = await send('b')

      expect(second).toEqual(first)
      await end(run)
    })

    test('update: a run that closes during the update is not running', async () => {
      const run = await fixture.start('messages')
      await query(run, 'state')
      const waiting = refusal(update(run, 'wait', [60_000]))
      await until('the update is accepted', async () => (await fixture.engine.describe(run, call())).historyLength > 6)

      await end(run)

      expect(await waiting).toMatchObject({
        error: 'WorkflowNotRunningError',
        workflowStatus: 'terminated',
        runId: run.runId,
      })
    })

    test('signal, update, terminate: a closed run is not running and an unknown one is not found; cancel succeeds for a closed run', async () => {
      const run = await fixture.start('nothing')
      await fixture.closed(run)
      const closed = { error: 'WorkflowNotRunningError', workflowStatus: 'completed', runId: run.runId }
      const unknown = { workflowId: crypto.randomUUID() }

      expect(
        await refusal(fixture.engine.signal({ workflowId: run.workflowId }, { name: 'add', args: [] }, call())),
      ).toMatchObject(closed)
      expect(await refusal(update(run, 'set'))).toMatchObject(closed)
      expect(await refusal(end(run))).toMatchObject(closed)
      await fixture.engine.cancel(run, { reason: null, pinned: true }, call())
      const refused = [
        refusal(fixture.engine.signal(unknown, { name: 'add', args: [] }, call())),
        refusal(fixture.engine.update(unknown, { name: 'set', args: [] }, 'u', call())),
        refusal(fixture.engine.query(unknown, { name: 'state', args: [] }, call())),
      ]
      for (const answer of await Promise.all(refused))
        expect(answer).toMatchObject({ error: 'WorkflowNotFoundError', ...unknown })
    })

    test('cancel: cancels the latest run of the chain if it is not pinned', async () => {
      const first = await fixture.start('chainOnSignal', 1)
      await fixture.engine.signal(first, { name: 'next', args: [] }, call())
      const { nextRunId } = await fixture.closed(first)

      await fixture.engine.cancel(first, { reason: null, pinned: false }, call())

      expect((await fixture.closed({ workflowId: first.workflowId, runId: nextRunId ?? '' })).outcome.status).toBe(
        'canceled',
      )
    })

    test('readEntries: returns what began and ended, oldest first', async () => {
      const { workflowId, firstExecutionRunId: runId } = await new Client(fixture).workflow.start('everyKind', {
        workflowId: crypto.randomUUID(),
        taskQueue: fixture.taskQueue,
        args: ['in'],
        // A busy worker does not finish its task within the default of 10 s: that is an entry too.
        workflowTaskTimeout: '2m',
      })
      const run = { workflowId, runId }
      await fixture.closed(run)

      const entries: TraceEntry[] = []
      for await (const entry of fixture.engine.readEntries(run, call())) entries.push(entry)

      expect(entries.map(({ kind, phase }) => `${kind} ${phase}`)).toEqual([
        'workflow began',
        'step began',
        'step ended',
        'timer began',
        'timer ended',
        'child_workflow began',
        'child_workflow began',
        'child_workflow ended',
        'workflow ended',
      ])
      expect(entries.at(-1)).toMatchObject({ output: 'in', attributes: { status: 'completed' } })
      expect(entries[2]).toMatchObject({ name: 'echoBack', output: 'in', attributes: { attempts: 1 } })
    })
  })
}
