import { expect, test } from 'vitest'
import { call, type EngineFixture, rejection, UNANSWERED_MS } from './engine-fixture.ts'

/** What the API suite cannot show about query, update, cancel and terminate. */
export function messages(fixture: EngineFixture): void {
  test('query and update: without a worker they are DeadlineExceededError', async () => {
    const run = await fixture.engine.start(
      { workflowId: crypto.randomUUID(), workflowName: 'x', catalog: 'nobody', args: [null] },
      call(),
    )
    const { workflowId, runId } = run
    const message = { name: 'any', args: [] }

    const query = await rejection(fixture.engine.query(run, message, call(UNANSWERED_MS)))
    const update = await rejection(fixture.engine.update({ workflowId }, message, 'update-1', call(UNANSWERED_MS)))

    expect(query).toMatchObject({ error: 'DeadlineExceededError', workflowId })
    expect(update).toMatchObject({ error: 'DeadlineExceededError', workflowId, runId, updateId: 'update-1' })
    await fixture.engine.terminate(run, null, call())
  })

  test('cancel: succeeds for a closed run', async () => {
    const run = await fixture.start('nothing')
    await fixture.closed(run)

    await fixture.engine.cancel(run, { reason: null, pinned: true }, call())
  })

  test('cancel: cancels the latest run of the chain if it is not pinned', async () => {
    const first = await fixture.start('chainOnSignal', 1)
    await fixture.engine.signal(first, { name: 'next', args: [] }, call())
    const { nextRunId } = await fixture.closed(first)

    await fixture.engine.cancel(first, { reason: null, pinned: false }, call())

    const latest = { workflowId: first.workflowId, runId: nextRunId ?? '' }
    expect((await fixture.closed(latest)).outcome.status).toBe('canceled')
  })

  test('terminate: a closed run is not running', async () => {
    const run = await fixture.start('nothing')
    await fixture.closed(run)

    const rejected = await rejection(fixture.engine.terminate(run, null, call()))
    expect(rejected).toMatchObject({ error: 'WorkflowNotRunningError', workflowStatus: 'completed', runId: run.runId })
  })
}
