import type { temporal } from '@temporalio/proto'
import { expect, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import type { StartedUpdate } from '../../../src/service/model/engine.ts'
import type { ErrorFacts } from '../../../src/service/model/errors.ts'
import { call, type EngineFixture, rejection, UNANSWERED_MS } from './engine-fixture.ts'

const CONTINUE_AS_NEW = 10

interface Sent {
  workflowId?: string
  workflowName?: string
  catalog?: string
  startArgs?: unknown[]
  args?: unknown[]
  updateId?: string
  timeoutMs?: number
}

/** A start and an update in one call, for transports that support it. */
export function updateWithStart(fixture: EngineFixture): void {
  function send(handler: string, sent: Sent = {}): Promise<StartedUpdate> {
    const {
      workflowId = crypto.randomUUID(),
      workflowName = 'messages',
      catalog = fixture.taskQueue,
      startArgs = [null],
    } = sent
    const { args = [], updateId = crypto.randomUUID(), timeoutMs = 10_000 } = sent
    const request = { workflowId, workflowName, catalog, args: startArgs }
    return fixture.engine.updateWithStart(request, { name: handler, args }, updateId, call(timeoutMs))
  }
  const end = (run: { workflowId?: string | undefined; runId?: string | undefined }) =>
    fixture.engine.terminate({ workflowId: run.workflowId ?? '', runId: run.runId ?? '' }, null, call())

  test('update-with-start: accepts any number of arguments; the result of a handler that returns nothing is null', async () => {
    const several = await send('echo', { args: [1, null, { a: 'b' }] })
    const none = await send('void', { workflowId: several.workflowId })

    expect([several.result, none.result]).toEqual([[1, null, { a: 'b' }], null])
    expect((await fixture.engine.input(several, call())).args).toEqual([null])
    await end(several)
  })

  test('update-with-start: starts a new run if the latest run of the id is closed', async () => {
    const closed = await fixture.start('nothing')
    await fixture.closed(closed)

    const { started, runId } = await send('void', { workflowId: closed.workflowId })

    expect([started, runId === closed.runId]).toEqual([true, false])
    await end({ workflowId: closed.workflowId, runId })
  })

  test('update-with-start: of several concurrent calls one starts the run, and all updates are carried out', async () => {
    const workflowId = crypto.randomUUID()

    const answers = await Promise.all([1, 2, 3, 4].map((value) => send('set', { workflowId, args: [value] })))

    expect(answers.filter(({ started }) => started).length).toBe(1)
    expect(new Set(answers.map(({ runId }) => runId)).size).toBe(1)
    expect(new Set(answers.map(({ result }) => (result as { before: unknown }).before)).size).toBe(4)
    await end({ workflowId, runId: answers[0]?.runId })
  })

  test('update-with-start: a handler that throws, a validator that rejects and a missing handler fail with the ids, and the run continues', async () => {
    const workflowId = crypto.randomUUID()
    const rejected = await rejection(send('validated', { workflowId, args: [-1], updateId: 'u1' }))
    const failed = await rejection(send('fails', { workflowId, updateId: 'u2' }))
    const missing = await rejection(send('nope', { workflowId, updateId: 'u3' }))

    const { runId, status } = await fixture.engine.describe({ workflowId }, call())
    expect(status).toBe('running')
    const ids = { workflowId, runId }
    expect(rejected).toMatchObject({ error: 'UpdateFailedError', ...ids, updateId: 'u1' })
    expect(rejected.message).toContain('-1 is not positive')
    expect(failed).toMatchObject({ error: 'UpdateFailedError', ...ids, updateId: 'u2' })
    expect(missing).toMatchObject({ error: 'HandlerNotFoundError', ...ids, updateId: 'u3' })
    expect(missing.available).toEqual(expect.arrayContaining(['set', 'validated']))
    await end({ workflowId, runId })
  })

  test.for<[when: string, handler: string, sent: Sent, events: number]>([
    ['during the update', 'wait', { args: [60_000] }, 5],
    ['before it receives the update', 'set', { catalog: 'nobody' }, 1],
  ])('update-with-start: a run that ends %s is not running', async ([, handler, sent, events]) => {
    const workflowId = crypto.randomUUID()
    const waiting = rejection(send(handler, { workflowId, updateId: 'u', ...sent }))
    const run = await underWay(workflowId, events)

    await end(run)

    const expected = { error: 'WorkflowNotRunningError', workflowStatus: 'terminated', ...run, updateId: 'u' }
    expect(await waiting).toMatchObject(expected)
  })

  test('update-with-start: follows a run that it has started and that continues as new before it receives the update', async () => {
    const workflowId = crypto.randomUUID()
    const goesOn = { workflowType: { name: 'messages' }, taskQueue: { name: fixture.taskQueue } }
    const queue = `by-hand-${workflowId}`
    const sending = send('set', { workflowId, catalog: queue, args: ['a'] })

    await completeTask(queue, { commandType: CONTINUE_AS_NEW, continueAsNewWorkflowExecutionCommandAttributes: goesOn })
    const { started, runId, result } = await sending

    const latest = await fixture.engine.describe({ workflowId }, call())
    expect([started, result]).toEqual([true, { before: null, after: 'a' }])
    expect([runId, runId === latest.firstRunId]).toEqual([latest.runId, false])
    await end({ workflowId, runId })
  })

  test('update-with-start: without a worker it times out, and the error names the run that it has started', async () => {
    const workflowId = crypto.randomUUID()

    const sent = { workflowId, catalog: 'nobody', updateId: 'u', timeoutMs: UNANSWERED_MS }
    const rejected = await rejection(send('set', sent))

    const { runId } = await fixture.engine.describe({ workflowId }, call())
    expect(rejected).toMatchObject({ error: 'DeadlineExceededError', workflowId, runId, updateId: 'u' })
    expect(rejected).not.toHaveProperty('retryAfterSeconds')
    await end({ workflowId, runId })
  })

  test('update-with-start: without a worker it waits longer than the 20 s for which the engine holds the call', async () => {
    const catalog = `later-${crypto.randomUUID()}`

    const rejected = await rejection(send('set', { catalog, updateId: 'u', timeoutMs: 22_000 }))

    expect(rejected).toMatchObject({ error: 'DeadlineExceededError', runId: expect.stringMatching(/./), updateId: 'u' })
    await end(rejected)
  })

  test('update-with-start: a paused run and a run whose workflow task keeps failing are not ready', async () => {
    const paused = await send('void')
    const { workflowId, runId } = paused
    const request = { namespace: 'default', workflowId, runId, requestId: crypto.randomUUID() }
    await fixture.connection.workflowService.pauseWorkflowExecution(request)
    const failing = await fixture.start('failTask')
    await until('three tasks have failed', async () => (await attempts(failing.workflowId)) >= 3, { timeoutMs: 40_000 })

    const rejected = [
      await rejection(send('set', { workflowId, updateId: 'u' })),
      await rejection(send('set', failing)),
    ]

    expect(rejected[0]).toMatchObject({
      error: 'WorkflowNotReadyError',
      workflowId,
      updateId: 'u',
      workflowStatus: 'paused',
    })
    expect(rejected[1]).toMatchObject({ error: 'WorkflowNotReadyError', workflowId: failing.workflowId })
    await Promise.all([end(paused), end(failing)])
  })

  test('update-with-start: the eleventh update in flight is rejected with Retry-After, because nothing was done', async () => {
    const { workflowId, runId } = await send('void')
    const waiting = Array.from({ length: 10 }, () => send('waitFor', { workflowId, args: ['go'], timeoutMs: 60_000 }))
    await until('all ten are accepted', async () => (await acceptedUpdates(workflowId)) === 11)

    const rejected = await rejection(send('set', { workflowId }))
    await fixture.engine.signal({ workflowId, runId }, { name: 'add', args: ['go'] }, call())

    expect(rejected).toMatchObject({ error: 'ResourceExhaustedError', workflowId, retryAfterSeconds: 1 })
    expect((await Promise.all(waiting)).map(({ result }) => result)).toEqual(waiting.map(() => ['go']))
    await end({ workflowId, runId })
  })

  test('update-with-start: the size limit holds for the payloads of both together', async () => {
    const half = 'x'.repeat(1_100_000)
    const workflowId = crypto.randomUUID()

    const rejected = await rejection(send('set', { workflowId, startArgs: [half], args: [half] }))
    const single = await send('void', { startArgs: [half] })

    expect(rejected).toMatchObject({ error: 'PayloadTooLargeError', source: 'gateway' })
    expect((await rejection(fixture.engine.describe({ workflowId }, call()))).error).toBe('WorkflowNotFoundError')
    await end(single)
  })

  test('update-with-start: an update id belongs to the run that received it, not to the run that it continued as', async () => {
    const workflowId = crypto.randomUUID()
    const first = await send('round', { workflowId, workflowName: 'chainOnSignal', startArgs: [1], updateId: 'same' })
    await fixture.engine.signal(first, { name: 'next', args: [] }, call())
    await fixture.closed(first)

    const again = await fixture.engine.update(first, { name: 'round', args: [] }, 'same', call())
    const later = await send('round', { workflowId, workflowName: 'chainOnSignal', startArgs: [1], updateId: 'same' })

    // This is why a lost response is not retried at once: the new run would carry the update out again.
    expect([first.result, again, later.result, later.started]).toEqual([1, 1, 2, false])
    await end(later)
  })

  async function underWay(
    workflowId: string,
    events: number,
  ): Promise<Required<Pick<ErrorFacts, 'workflowId' | 'runId'>>> {
    const { runId } = await until(`${workflowId} has ${events} events`, async () => {
      const run = await fixture.engine.describe({ workflowId }, call()).catch(() => null)
      return run !== null && run.historyLength >= events ? run : null
    })
    return { workflowId, runId }
  }

  /** Acts as a worker that ignores the update, as workers of other SDKs do when the workflow ends at once. */
  async function completeTask(queue: string, command: temporal.api.command.v1.ICommand): Promise<void> {
    const { workflowService } = fixture.connection
    const from = { namespace: 'default', identity: 'by hand' }
    const { taskToken, messages } = await fixture.connection.withDeadline(Date.now() + 10_000, () =>
      workflowService.pollWorkflowTaskQueue({ ...from, taskQueue: { name: queue } }),
    )
    expect(messages.length).toBe(1)
    await workflowService.respondWorkflowTaskCompleted({ ...from, taskToken, commands: [command] })
  }

  async function acceptedUpdates(workflowId: string): Promise<number | undefined> {
    const request = { namespace: 'default', execution: { workflowId } }
    const { history } = await fixture.connection.workflowService.getWorkflowExecutionHistory(request)
    return history?.events?.filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes).length
  }

  async function attempts(workflowId: string): Promise<number> {
    const request = { namespace: 'default', execution: { workflowId } }
    const { pendingWorkflowTask } = await fixture.connection.workflowService.describeWorkflowExecution(request)
    return pendingWorkflowTask?.attempt ?? 0
  }
}
