import { expect, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import type { ExecutionRef } from '../../../src/service/model/execution.ts'
import { call, type EngineFixture, rejection, UNANSWERED_MS } from './engine-fixture.ts'

/** Updates whose result is read later, for transports that support it. */
export function asyncUpdates(fixture: EngineFixture): void {
  const send = (ref: ExecutionRef, handler: string, args: unknown[], updateId: string, timeoutMs = 10_000) =>
    fixture.engine.startUpdate(ref, { name: handler, args }, updateId, call(timeoutMs))
  const poll = (ref: ExecutionRef, updateId: string, waitMs = 0, timeoutMs = 10_000) =>
    fixture.engine.pollUpdate(ref, { name: 'set', updateId }, waitMs, call(timeoutMs))
  const end = ({ workflowId, runId }: { workflowId: string; runId: string }) =>
    fixture.engine.terminate({ workflowId, runId }, null, call())

  test('async update: its result can be awaited before and after it has completed, also when its run has closed', async () => {
    const { workflowId, runId } = await fixture.start('messages')
    const update = { workflowId, runId, updateId: 'u' }
    const accepted = await send({ workflowId }, 'waitFor', ['go'], 'u')

    const early = await poll({ workflowId }, 'u', 300)
    const waiting = poll({ workflowId, runId }, 'u', 20_000)
    await fixture.engine.signal({ workflowId }, { name: 'add', args: ['go'] }, call())

    expect([accepted, early]).toEqual([update, { ...update, stage: 'accepted' }])
    const completed = { ...update, stage: 'completed', result: ['go'] }
    expect(await waiting).toEqual(completed)
    await end(update)
    expect([await poll({ workflowId }, 'u'), await poll({ workflowId }, 'u', 5000)]).toEqual([completed, completed])
  })

  test('async update: an update that the validator rejects, or that fails at once, is rejected; the latter can be read', async () => {
    const run = await fixture.start('messages')

    const invalid = await rejection(send(run, 'validated', [-1], 'u1'))
    const failed = await rejection(send(run, 'fails', [], 'u2'))
    const missing = await rejection(send(run, 'nope', [], 'u3'))

    const ids = { workflowId: run.workflowId, runId: run.runId }
    expect(invalid).toMatchObject({ error: 'UpdateFailedError', ...ids, updateId: 'u1' })
    expect(failed).toMatchObject({ error: 'UpdateFailedError', ...ids, updateId: 'u2' })
    expect(missing).toMatchObject({ error: 'HandlerNotFoundError', ...ids })
    expect(await rejection(poll(run, 'u1'))).toMatchObject({ error: 'UpdateNotFoundError', ...ids, updateId: 'u1' })
    expect(await rejection(poll(run, 'u2'))).toMatchObject({ error: 'UpdateFailedError', ...ids, updateId: 'u2' })
    await end(run)
  })

  test('async update: with a check of its name, an update of another handler is not found, pending or not', async () => {
    const run = await fixture.start('messages')
    await send(run, 'waitFor', ['go'], 'pending')
    await send(run, 'set', [1], 'completed')
    await rejection(send(run, 'fails', [], 'failed'))
    const read = (name: string, updateId: string, waitMs = 0) =>
      fixture.engine.pollUpdate(run, { name, updateId, checksName: true }, waitMs, call())

    expect(await read('waitFor', 'pending', 100)).toMatchObject({ stage: 'accepted' })
    expect(await read('set', 'completed', 100)).toMatchObject({ stage: 'completed' })
    expect(await rejection(read('fails', 'failed'))).toMatchObject({ error: 'UpdateFailedError' })
    const unknown = await rejection(read('set', 'nope'))
    for (const updateId of ['pending', 'completed', 'failed'])
      expect(await rejection(read('other', updateId))).toEqual({
        ...unknown,
        message: unknown.message.replace('nope', updateId),
        updateId,
      })
    await end(run)
  })

  test('async update: an unknown update, run and workflow are different errors', async () => {
    const { workflowId, runId } = await fixture.start('nothing')
    const otherRun = crypto.randomUUID()

    const rejected = await Promise.all([
      rejection(poll({ workflowId }, 'nope')),
      rejection(poll({ workflowId, runId }, 'nope', 5000)),
      rejection(poll({ workflowId, runId: otherRun }, 'nope')),
      rejection(poll({ workflowId: otherRun }, 'nope', 5000)),
    ])

    expect(rejected.map(({ error }) => error)).toEqual([
      'UpdateNotFoundError',
      'UpdateNotFoundError',
      'WorkflowNotFoundError',
      'WorkflowNotFoundError',
    ])
  })

  test('async update: an update whose run closes first is reported as not running, to waits and to later polls', async () => {
    const run = await fixture.start('messages')
    await send(run, 'waitFor', ['never'], 'u')
    const waiting = rejection(poll(run, 'u', 20_000))

    await end(run)

    const ended = { error: 'WorkflowNotRunningError', workflowStatus: 'terminated', runId: run.runId, updateId: 'u' }
    expect([await waiting, await rejection(poll(run, 'u'))]).toMatchObject([ended, ended])
  })

  test('async update: belongs to the run that accepted it, not to the one that it continued as', async () => {
    const { workflowId, runId } = await fixture.start('chainOnSignal', 1)
    await send({ workflowId }, 'round', [], 'u')
    await fixture.engine.signal({ workflowId }, { name: 'next', args: [] }, call())
    await fixture.closed({ workflowId, runId })

    expect(await poll({ workflowId, runId }, 'u')).toMatchObject({ stage: 'completed', result: 1 })
    expect((await rejection(poll({ workflowId }, 'u'))).error).toBe('UpdateNotFoundError')
    await fixture.engine.signal({ workflowId }, { name: 'finish', args: [] }, call())
  })

  test('async update: without a worker it is admitted, and the start of the update times out with its ids', async () => {
    const start = { workflowId: crypto.randomUUID(), workflowName: 'x', catalog: 'nobody', args: [] }
    const run = await fixture.engine.start(start, call())

    const sending = rejection(send(run, 'set', [1], 'u', UNANSWERED_MS))
    const state = await until('it is admitted', () => poll(run, 'u').catch(() => null))

    const { workflowId, runId } = run
    expect(state).toEqual({ workflowId, runId, updateId: 'u', stage: 'admitted' })
    expect(await sending).toMatchObject({ error: 'DeadlineExceededError', workflowId, runId, updateId: 'u' })
    await end(run)
  })
}
